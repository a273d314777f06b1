import type { Instant } from '../shared/instant.ts';

/** Names one recipient of one dispatch, and where it is kept. */
export interface RecipientKey {
  readonly dispatchId: string;
  readonly shard: number;
  readonly applyId: string;
}

/** A worker's temporary right to send one mail. The token identifies the attempt. */
export interface Lease {
  readonly token: string;
  readonly until: Instant;
}

/** The message whose attempts were used up; a later message with this id is a redrive of it. */
export interface DeadMessage {
  readonly id: string;
  /** SQS's SentTimestamp. */
  readonly sentAt: Instant;
}

/** Counted per round: a round begins at accept and at every reopening. */
interface RoundProgress {
  readonly round: number;
  readonly attemptCount: number;
}

/** How far one recipient has got. Each state carries only what is true in it. */
export type Recipient = RoundProgress &
  (
    | { readonly status: 'PENDING'; readonly nextAttemptAt: Instant; readonly lastErrorCode?: string }
    | { readonly status: 'PROCESSING'; readonly lease: Lease }
    /** Without a message id it is a person's word that the mail was sent. */
    | { readonly status: 'SENT'; readonly messageId?: string; readonly sentAt: Instant }
    | {
        readonly status: 'FAILED';
        readonly lastErrorCode: string;
        readonly failedAt: Instant;
        readonly deadMessage?: DeadMessage;
      }
    /** Nobody knows whether SES took the mail, so nobody sends again on a guess. */
    | { readonly status: 'UNKNOWN'; readonly lastErrorCode: string; readonly failedAt: Instant }
    | { readonly status: 'CANCELLED'; readonly cancelledAt: Instant }
  );

export type RecipientStatus = Recipient['status'];

/** A recipient in a given state. */
export type RecipientIn<S extends RecipientStatus> = Extract<Recipient, { status: S }>;

/** Every state, in the order a reader expects. */
export const RECIPIENT_STATUSES = [
  'PENDING',
  'PROCESSING',
  'SENT',
  'FAILED',
  'UNKNOWN',
  'CANCELLED',
] as const satisfies readonly RecipientStatus[];

/** Code of a recipient whose attempts of the round are used up. */
export const ATTEMPTS_EXHAUSTED = 'ATTEMPTS_EXHAUSTED';

/** Code of a recipient of whom it cannot be told whether SES took the mail. */
export const OUTCOME_UNCLEAR = 'OUTCOME_UNCLEAR';

/** Code of a recipient of whom a person said that the mail was not sent. */
export const SETTLED_BY_OPERATOR = 'SETTLED_BY_OPERATOR';

/** An earlier attempt of the round may have been taken, so nobody can say that no mail was sent. */
interface AfterLost {
  readonly afterLost?: boolean;
}

/** What can happen to a recipient. */
export type RecipientEvent =
  | { readonly type: 'claimed'; readonly lease: Lease }
  | { readonly type: 'accepted'; readonly token: string; readonly messageId: string }
  | ({ readonly type: 'refused'; readonly token: string; readonly code: string } & AfterLost)
  | ({
      readonly type: 'retryable';
      readonly token: string;
      readonly code: string;
      readonly nextAttemptAt: Instant;
      readonly attemptsPerRound: number;
      readonly message: DeadMessage;
    } & AfterLost)
  /** The attempt does not count: SES never judged this mail. */
  | { readonly type: 'given-back'; readonly token: string; readonly code: string; readonly nextAttemptAt: Instant }
  | { readonly type: 'unclear'; readonly token: string }
  /** Claimed though the attempts of the round are used up: it ends with its message in hand. */
  | ({ readonly type: 'used-up'; readonly token: string; readonly message: DeadMessage } & AfterLost)
  /** The lease ended with the outcome open, and it was decided what follows. */
  | { readonly type: 'resolved-unsent'; readonly token: string; readonly nextAttemptAt: Instant }
  | { readonly type: 'resolved-unknown'; readonly token: string }
  /** SES itself says that it took the mail, of whatever attempt. */
  | { readonly type: 'confirmed'; readonly messageId: string; readonly sentAt: Instant }
  | { readonly type: 'cancelled' }
  | { readonly type: 'redriven'; readonly message: DeadMessage }
  /** A person wants another round. */
  | { readonly type: 'reopened' }
  /** A person found out what became of the mail. */
  | { readonly type: 'settled-by-hand'; readonly as: 'sent' | 'failed' };

/** The state after an event, or why there is none. */
export type Transition =
  | { readonly ok: true; readonly next: Recipient }
  | {
      readonly ok: false;
      readonly because: 'final' | 'not-due' | 'lease-held' | 'conflict' | 'lease-open' | 'not-a-redrive' | 'out-of-order';
    };

const moveTo = (next: Recipient): Transition => ({ ok: true, next });
const stay = (because: Extract<Transition, { ok: false }>['because']): Transition => ({ ok: false, because });

/** Whether nothing but a reopening or an event of SES moves the recipient any more. */
export const isFinal = (status: RecipientStatus): boolean => status !== 'PENDING' && status !== 'PROCESSING';

/** Says what an event does to a recipient. Pure: same arguments, same answer. */
export const advance = (current: Recipient, event: RecipientEvent, now: Instant): Transition => {
  if (event.type === 'confirmed') return confirm(current, event.messageId, event.sentAt);
  switch (current.status) {
    case 'PENDING':
      if (event.type === 'cancelled') return moveTo(cancel(current, now));
      return event.type === 'claimed' ? claim(current, event.lease, now) : stay('out-of-order');
    case 'PROCESSING':
      if (event.type === 'claimed') return stay('lease-held');
      if (isOperatorEvent(event)) return stay('out-of-order');
      return event.token === current.lease.token ? answer(current, event, now) : stay('conflict');
    case 'FAILED':
      if (event.type === 'reopened') return moveTo(reopen(current, now));
      return event.type === 'redriven' ? redrive(current, event.message, now) : stay('final');
    case 'UNKNOWN':
      if (event.type === 'settled-by-hand') return moveTo(settleByHand(current, event.as, now));
      return event.type === 'reopened' ? moveTo(reopen(current, now)) : stay('final');
    case 'SENT':
    case 'CANCELLED':
      return stay('final');
  }
};

type OperatorEvent = Extract<RecipientEvent, { type: 'cancelled' | 'redriven' | 'reopened' | 'settled-by-hand' }>;

const isOperatorEvent = (event: RecipientEvent): event is OperatorEvent =>
  event.type === 'redriven' || event.type === 'reopened' || event.type === 'cancelled' || event.type === 'settled-by-hand';

type Answer = Exclude<RecipientEvent, OperatorEvent | { type: 'claimed' | 'confirmed' }>;

/** Nothing turns SENT back, and a second proof is a matter of the attempts; the first one bears a person's word out. */
const confirm = (current: Recipient, messageId: string, sentAt: Instant): Transition => {
  const { round, attemptCount } = current;
  if (current.status === 'SENT' && current.messageId !== undefined) return stay('final');
  return moveTo({ status: 'SENT', round, attemptCount, messageId, sentAt });
};

const cancel = ({ round, attemptCount }: RoundProgress, now: Instant): Recipient => ({
  status: 'CANCELLED',
  round,
  attemptCount,
  cancelledAt: now,
});

const reopen = ({ round, lastErrorCode }: RecipientIn<'FAILED' | 'UNKNOWN'>, now: Instant): Recipient => ({
  status: 'PENDING',
  round: round + 1,
  attemptCount: 0,
  nextAttemptAt: now,
  lastErrorCode,
});

const settleByHand = ({ round, attemptCount }: RoundProgress, as: 'sent' | 'failed', now: Instant): Recipient =>
  as === 'sent'
    ? { status: 'SENT', round, attemptCount, sentAt: now }
    : { status: 'FAILED', round, attemptCount, lastErrorCode: SETTLED_BY_OPERATOR, failedAt: now };

const claim = ({ round, attemptCount, nextAttemptAt }: RecipientIn<'PENDING'>, lease: Lease, now: Instant): Transition =>
  nextAttemptAt <= now ? moveTo({ status: 'PROCESSING', round, attemptCount: attemptCount + 1, lease }) : stay('not-due');

const answer = (current: RecipientIn<'PROCESSING'>, event: Answer, now: Instant): Transition => {
  const { round, attemptCount } = current;
  switch (event.type) {
    case 'accepted':
      return moveTo({ status: 'SENT', round, attemptCount, messageId: event.messageId, sentAt: now });
    case 'refused':
      return moveTo({ status: ending(event), round, attemptCount, lastErrorCode: event.code, failedAt: now });
    case 'retryable':
      if (attemptCount < event.attemptsPerRound)
        return moveTo({ status: 'PENDING', round, attemptCount, nextAttemptAt: event.nextAttemptAt, lastErrorCode: event.code });
      return moveTo(event.afterLost === true ? giveUp(current, ATTEMPTS_EXHAUSTED, now) : exhaust(current, event.message, now));
    case 'used-up':
      return moveTo(
        event.afterLost === true
          ? giveUp({ ...current, attemptCount: attemptCount - 1 }, ATTEMPTS_EXHAUSTED, now)
          : exhaust({ round, attemptCount: attemptCount - 1 }, event.message, now),
      );
    case 'given-back':
      return moveTo({
        status: 'PENDING',
        round,
        attemptCount: attemptCount - 1,
        nextAttemptAt: event.nextAttemptAt,
        lastErrorCode: event.code,
      });
    case 'unclear':
      // SES may have the mail: nothing is known until the lease has ended and the attempt is resolved.
      return moveTo(current);
    case 'resolved-unsent':
    case 'resolved-unknown':
      return current.lease.until <= now ? moveTo(resolve(current, event, now)) : stay('lease-open');
  }
};

const ending = ({ afterLost }: AfterLost): 'FAILED' | 'UNKNOWN' => (afterLost === true ? 'UNKNOWN' : 'FAILED');

const resolve = (
  current: RecipientIn<'PROCESSING'>,
  event: Extract<Answer, { type: `resolved-${string}` }>,
  now: Instant,
): Recipient => {
  const { round, attemptCount } = current;
  if (event.type === 'resolved-unknown') return giveUp(current, OUTCOME_UNCLEAR, now);
  return { status: 'PENDING', round, attemptCount, nextAttemptAt: event.nextAttemptAt, lastErrorCode: OUTCOME_UNCLEAR };
};

const giveUp = ({ round, attemptCount }: RoundProgress, lastErrorCode: string, failedAt: Instant): Recipient => ({
  status: 'UNKNOWN',
  round,
  attemptCount,
  lastErrorCode,
  failedAt,
});

const exhaust = ({ round, attemptCount }: RoundProgress, deadMessage: DeadMessage, now: Instant): Recipient => ({
  status: 'FAILED',
  round,
  attemptCount,
  lastErrorCode: ATTEMPTS_EXHAUSTED,
  failedAt: now,
  deadMessage,
});

/**
 * What a message for a failed recipient is. A redrive makes a new message of the dead one's body, so our own id in it
 * is the same and SQS's SentTimestamp is later; both instants are by SQS's clock.
 */
export const compareWithDead = (failed: RecipientIn<'FAILED'>, message: DeadMessage): 'redrive' | 'the-dead-one' | 'stray' => {
  const { lastErrorCode, deadMessage } = failed;
  // A permanent failure after a reopening leaves the older dead message in the item: it says nothing any more.
  if (lastErrorCode !== ATTEMPTS_EXHAUSTED || deadMessage?.id !== message.id) return 'stray';
  return message.sentAt > deadMessage.sentAt ? 'redrive' : 'the-dead-one';
};

const redrive = (failed: RecipientIn<'FAILED'>, message: DeadMessage, now: Instant): Transition =>
  compareWithDead(failed, message) === 'redrive' ? moveTo(reopen(failed, now)) : stay('not-a-redrive');
