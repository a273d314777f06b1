import type { DispatchContent } from '../../domain/dispatch/content.ts';
import type { DispatchStatus } from '../../domain/dispatch/dispatch.ts';
import { type AttemptResult, countGivenBack, countLostBefore, withResult } from '../../domain/recipient/attempt.ts';
import { type MessageAction, type SendMessage, waitOrRequeue, waitUntil } from '../../domain/recipient/decide-message.ts';
import type { Recipient, RecipientEvent, RecipientKey } from '../../domain/recipient/recipient.ts';
import { type BackoffPolicy, nextAttemptAt } from '../../domain/sending/backoff.ts';
import { dueAfterRefusal } from '../../domain/sending/refusals.ts';
import type { SendAnswer } from '../../domain/sending/send-answer.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { ClaimedRecipient, RecipientWrite, WriteResult } from '../ports/recipients.ts';

/** A message of the send queue whose body was understood. */
export interface RecipientMessage extends SendMessage {
  readonly key: RecipientKey;
}

/** How sending goes about it; durations are set by the stack. */
export interface SendPolicy {
  readonly leaseSeconds: number;
  readonly sesTimeoutSeconds: number;
  readonly attemptsPerRound: number;
  readonly backoff: BackoffPolicy;
  /** How long a recipient waits whose mail was refused for the account's sake. */
  readonly refusals: BackoffPolicy;
  readonly maxReceiveCount: number;
}

/** What happened, for logs and metrics: never addresses or content. */
export interface SendSignal {
  readonly type:
    | 'sent'
    | 'failed'
    | 'exhausted'
    | 'retry'
    | 'throttled'
    | 'account-trouble'
    | 'credentials-refused'
    | 'unclear'
    /** It failed for good, but an earlier mail of the round may have been taken. */
    | 'unknown'
    | 'reopened'
    | 'cancelled'
    | 'given-back'
    | 'not-recorded'
    /** SES took a mail whose lease was over: alone, or beside another of the same recipient. */
    | 'late'
    | 'duplicate'
    | 'stopped'
    | 'broken'
    | 'unknown-dispatch'
    | 'expired'
    /** Its row has expired or was deleted. */
    | 'gone';
  /** Absent where no one recipient is meant. */
  readonly key?: RecipientKey;
  /** Where a dispatch is meant and none of its recipients. */
  readonly dispatchId?: string;
  readonly round?: number;
  readonly attempt?: number;
  readonly code?: string;
}

/** All messages of one recipient in one batch: at most one attempt is made for them. */
export interface Group {
  readonly key: RecipientKey;
  /** The first of them: its attempt is counted, and it becomes the dead one. */
  readonly message: RecipientMessage;
  readonly messages: readonly RecipientMessage[];
  /** How the dispatch stands. */
  readonly status: DispatchStatus;
}

/** A group whose dispatch is being sent, and what to send. */
export interface SendableGroup extends Group {
  readonly content: DispatchContent;
}

/** Names the recipient of a group within one invocation. */
export const groupId = ({ dispatchId, applyId }: RecipientKey): string => `${dispatchId} ${applyId}`;

/** SES's answer, or why it was not asked: no time left, the stage may not mail the recipient, the mail cannot be rendered, or the attempts of the round are used up. */
export type AttemptAnswer =
  | SendAnswer
  /** As `account`, but other mails were accepted since this recipient's last refusal, so it counts as an attempt. */
  | { readonly kind: 'refused-alone'; readonly code: string }
  | { readonly kind: 'no-time' | 'not-allowed' | 'unrenderable' | 'used-up'; readonly code: string };

/** What one attempt came to, before it is recorded. */
export interface FinishedAttempt {
  readonly group: SendableGroup;
  readonly claimed: ClaimedRecipient;
  readonly next: Recipient;
  readonly result: AttemptResult;
  readonly answer: AttemptAnswer;
}

/** A recipient whose row just moved, or whose write got no answer, is looked at again after this. */
export const LOOK_AGAIN_MS = 2_000;
const THROTTLE_WAIT_MS = 10_000;
/** For a recipient that there was no time for: a second at first, for it is rarely its own fault. */
const NO_TIME_BACKOFF: BackoffPolicy = { baseSeconds: 1, capSeconds: 60 };

/** The event in the life of the recipient. */
export const eventOf = (
  answer: AttemptAnswer,
  { recipient, attempts }: ClaimedRecipient,
  { id, sentAt }: RecipientMessage,
  policy: SendPolicy,
  now: Instant,
  random: number,
): RecipientEvent => {
  const { token } = recipient.lease;
  const afterLost = countLostBefore(attempts, recipient.round, token) > 0;
  switch (answer.kind) {
    case 'accepted':
      return { type: 'accepted', token, messageId: answer.messageId };
    case 'permanent':
    case 'not-allowed':
    case 'unrenderable':
      return { type: 'refused', token, code: answer.code, afterLost };
    case 'transient':
    case 'refused-alone':
      return {
        type: 'retryable',
        token,
        code: answer.code,
        nextAttemptAt: nextAttemptAt(policy.backoff, recipient.attemptCount, now, random),
        attemptsPerRound: policy.attemptsPerRound,
        message: { id, sentAt },
        afterLost,
      };
    case 'used-up':
      return { type: 'used-up', token, message: { id, sentAt }, afterLost };
    case 'throttled':
    case 'credentials':
      return {
        type: 'given-back',
        token,
        code: answer.code,
        nextAttemptAt: now + Math.round(THROTTLE_WAIT_MS * (0.1 + 0.9 * random)),
      };
    case 'account': {
      const refused = { attempts, round: recipient.round, lease: token, code: answer.code };
      return {
        type: 'given-back',
        token,
        code: answer.code,
        nextAttemptAt: dueAfterRefusal(refused, policy.refusals, now, random),
      };
    }
    case 'no-time':
      return {
        type: 'given-back',
        token,
        code: answer.code,
        nextAttemptAt: nextAttemptAt(NO_TIME_BACKOFF, 1 + countGivenBack(attempts, recipient.round, answer.code), now, random),
      };
    case 'unclear':
      return { type: 'unclear', token };
  }
};

/** What the attempt's entry says afterwards. */
export const resultOf = (answer: AttemptAnswer): AttemptResult => {
  switch (answer.kind) {
    case 'accepted':
      return { outcome: 'sent', messageId: answer.messageId };
    case 'permanent':
    case 'not-allowed':
    case 'unrenderable':
      return { outcome: 'failed', code: answer.code };
    case 'transient':
    case 'refused-alone':
      return { outcome: 'retry', code: answer.code };
    case 'unclear':
      return { outcome: 'unclear', code: answer.code, ...(answer.answered === true && { answered: true }) };
    case 'throttled':
    case 'account':
    case 'credentials':
    case 'no-time':
    case 'used-up':
      return { outcome: 'given-back', code: answer.code };
  }
};

/** What logs and metrics are told. */
export const signalOf = (
  answer: AttemptAnswer,
  next: Recipient,
  key: RecipientKey,
  { recipient }: ClaimedRecipient,
): SendSignal => {
  const where = { key, round: recipient.round, attempt: recipient.attemptCount };
  if (answer.kind === 'accepted') return { type: 'sent', ...where };
  if (next.status === 'UNKNOWN') return { type: 'unknown', ...where, code: answer.code };
  const types = {
    permanent: 'failed',
    'not-allowed': 'failed',
    unrenderable: 'failed',
    transient: next.status === 'FAILED' ? 'exhausted' : 'retry',
    throttled: 'throttled',
    account: 'account-trouble',
    'refused-alone': next.status === 'FAILED' ? 'exhausted' : 'account-trouble',
    credentials: 'credentials-refused',
    unclear: 'unclear',
    'no-time': 'given-back',
    'used-up': 'exhausted',
  } as const;
  return { type: types[answer.kind], ...where, code: answer.code };
};

/** The write that records the attempt. */
export const toWrite = ({ group, claimed, next, result }: FinishedAttempt): RecipientWrite => ({
  key: group.key,
  token: claimed.recipient.lease.token,
  next,
  attempts: withResult(claimed.attempts, claimed.recipient.lease.token, result),
});

/** Whether the attempt counts and another one follows, unless it was the last: then the message stays itself and becomes the dead one. */
export const mayBeTheLast = ({ kind }: AttemptAnswer): boolean => kind === 'transient' || kind === 'refused-alone';

/** What the message does once the attempt is recorded, or could not be. */
export const actionAfter = (
  { claimed, next, answer }: FinishedAttempt,
  written: WriteResult,
  message: RecipientMessage,
  maxReceiveCount: number,
  now: Instant,
): MessageAction => {
  // Not recorded: the row stays PROCESSING, and it is resolved when the lease has ended.
  // The message that may have become the dead one must stay itself: a redrive is told by its id.
  const isDead = next.status === 'FAILED' && next.deadMessage?.id === message.id;
  if (isDead && written !== 'written') return waitUntil(message, claimed.recipient.lease.until);
  if (written === 'unavailable') return { do: 'requeue', until: claimed.recipient.lease.until };
  if (written === 'conflict') return waitOrRequeue(message, now + LOOK_AGAIN_MS, maxReceiveCount);
  switch (next.status) {
    case 'PENDING':
      return mayBeTheLast(answer)
        ? waitOrRequeue(message, next.nextAttemptAt, maxReceiveCount)
        : { do: 'requeue', until: next.nextAttemptAt };
    case 'PROCESSING':
      return { do: 'requeue', until: claimed.recipient.lease.until };
    case 'FAILED':
      return isDead ? { do: 'keep-failing' } : { do: 'delete' };
    case 'SENT':
    case 'UNKNOWN':
    case 'CANCELLED':
      return { do: 'delete' };
  }
};
