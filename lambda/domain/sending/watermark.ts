import type { Attempt } from '../recipient/attempt.ts';
import type { Instant } from '../shared/instant.ts';

/** An event of SES that could not be applied yet: the attempt it is about must not be taken as unsent. */
export interface UnappliedEvent {
  /** Lease token of the attempt; absent when the event does not tell. */
  readonly lease?: string;
  readonly sentAt: Instant;
}

/** How far SES's events about our mails have been applied. */
export interface FeedbackState {
  /** Newest send time of an event that was applied; absent: none was. */
  readonly watermark?: Instant;
  readonly unapplied: readonly UnappliedEvent[];
  /** When feedback last found itself behind SES; absent: it never did. */
  readonly behindAt?: Instant;
}

/** Unapplied events that are kept; when there may be no more room nothing counts as unsent. */
export const MOST_UNAPPLIED = 300;

/** Events that one worker may have in hand, and may find no room for. */
const UNAPPLIED_AT_ONCE = 10;

/** No mail waits longer for its events than a dead letter is kept. */
export const UNAPPLIED_DAYS = 14;

/** When the absence of an event says something about an attempt. */
export interface SilencePolicy {
  readonly sesTimeoutSeconds: number;
  /** How much later than the attempt's last possible moment a mail must be whose events were applied. */
  readonly watermarkMarginSeconds: number;
}

/** A call to SES begins at most this long after its claim, so that it is known when SES may have taken the mail. */
export const longestPreparationSeconds = ({ sesTimeoutSeconds }: Pick<SilencePolicy, 'sesTimeoutSeconds'>): number =>
  sesTimeoutSeconds;

/** A mail that SES took later than this tells something about the attempt, when its event was applied. */
export const silentAfter = ({ startedAt }: Pick<Attempt, 'startedAt'>, policy: SilencePolicy): Instant =>
  startedAt + (longestPreparationSeconds(policy) + policy.sesTimeoutSeconds + policy.watermarkMarginSeconds) * 1000;

/**
 * What the events of SES say about an attempt of which none was applied. `silent`: events of mails sent well after it were
 * applied. `unapplied`: an event that may be about it waits to be applied. `quiet`: no later mail has been heard of.
 */
export const evaluateSilence = (
  { watermark, unapplied }: Pick<FeedbackState, 'watermark' | 'unapplied'>,
  attempt: Pick<Attempt, 'lease' | 'startedAt'>,
  policy: SilencePolicy,
): 'silent' | 'unapplied' | 'quiet' => {
  const until = silentAfter(attempt, policy);
  const mayBeAboutIt = unapplied.some(({ lease, sentAt }) =>
    lease === undefined
      ? sentAt <= until && sentAt >= attempt.startedAt - policy.watermarkMarginSeconds * 1000
      : lease === attempt.lease,
  );
  const isFull = unapplied.length > MOST_UNAPPLIED - UNAPPLIED_AT_ONCE;
  if (mayBeAboutIt || isFull) return 'unapplied';
  return watermark !== undefined && watermark > until ? 'silent' : 'quiet';
};

/** How an event came to us, by SQS's clock. */
export interface Arrival {
  readonly queuedAt: Instant;
  readonly firstReceivedAt: Instant;
  readonly receiveCount: number;
}

/** When feedback counts as behind SES. */
export interface BehindPolicy {
  /** An event that takes longer than this to reach us shows that others may be under way as well. */
  readonly behindAfterSeconds: number;
  /** How long until an event that could not be applied is handed out again, and applied. */
  readonly redeliverySeconds: number;
}

/**
 * Whether an event shows that feedback is behind: the newest event applied then says nothing about older ones, since the
 * queue keeps no order.
 * @param sendEventOf when SES took the mail, for an event that SES publishes at that moment
 * @param wasUnapplied it is among the unapplied events, or is not applied: others need not wait for it
 */
export const isBehind = (
  { queuedAt, firstReceivedAt, receiveCount }: Arrival,
  sendEventOf: Instant | undefined,
  wasUnapplied: boolean,
  { behindAfterSeconds, redeliverySeconds }: BehindPolicy,
  now: Instant,
): boolean => {
  const limitMs = behindAfterSeconds * 1000;
  if (firstReceivedAt - queuedAt > limitMs) return true;
  if (sendEventOf !== undefined && receiveCount === 1 && now - sendEventOf > limitMs) return true;
  return !wasUnapplied && now - queuedAt > redeliverySeconds * 1000;
};

/** Whether silence that was first seen then counts. A lease must have passed since feedback was last behind. */
export const isBelieved = ({ behindAt }: Pick<FeedbackState, 'behindAt'>, silentAt: Instant | undefined): silentAt is Instant =>
  silentAt !== undefined && (behindAt === undefined || silentAt > behindAt + BEHIND_STEP_MS);

/** A `behindAt` that moves less than this is not written, so that a backlog does not make one item hot. */
export const BEHIND_STEP_MS = 1_000;

/** SES's clock is not ours, and the watermark moves in steps: a mail this close to it has been heard of. */
const SLACK_MS = 120_000;

/** Whether events do not come. @param newestSentAt when SES took the newest mail of which an event is due; undefined: there is none */
export const isSilent = ({ watermark = 0 }: Pick<FeedbackState, 'watermark'>, newestSentAt: Instant | undefined): boolean =>
  newestSentAt !== undefined && watermark + SLACK_MS < newestSentAt;
