import type { Attempt } from './attempt.ts';
import type { Instant } from './instant.ts';

/** An event of SES that could not be applied yet: the attempt it is about must not be taken for unsent. */
export interface Hold {
  /** Lease token of the attempt; absent when the event does not tell. */
  readonly lease?: string;
  readonly sentAt: Instant;
}

/** How far SES's events about our mails have been applied. */
export interface Witness {
  /** Newest send time of an event that was applied; undefined: none ever was. */
  readonly mark?: Instant;
  readonly holds: readonly Hold[];
  /** When SES took the canaries: mails to its simulator, sent only to hear of them. Oldest first. */
  readonly canaries: readonly Instant[];
}

/** Holds that are kept; when there may be no more room nothing counts as unsent. */
export const MOST_HOLDS = 300;

/** Events that one worker may have in hand, and may find no room for. */
const HOLDS_AT_ONCE = 10;

/** No mail waits longer for its events than a dead letter is kept. */
export const HOLD_DAYS = 14;

export interface WitnessPolicy {
  readonly sesTimeoutSeconds: number;
  /** How much later than the attempt's last possible moment a mail must be whose events were applied. */
  readonly witnessMarginSeconds: number;
  /** How long until an event that could not be applied is handed out again, and applied. */
  readonly redeliverySeconds: number;
  /** How long to wait for a sign after a canary before a person has to decide. */
  readonly holdAfterSeconds: number;
}

/** A call to SES begins at most this long after its claim, so that it is known when SES may have taken the mail. */
export const longestPreparationSeconds = ({ sesTimeoutSeconds }: Pick<WitnessPolicy, 'sesTimeoutSeconds'>): number =>
  sesTimeoutSeconds;

/** What the witness's silence says about an attempt. */
export type Testimony = 'unsent' | 'wait' | 'silent';

/**
 * The silence of a witness proves something only if the witness is awake: events of mails sent well after the attempt
 * have been applied, and none that may speak of it is stuck.
 */
export const hear = (
  witness: Witness,
  attempt: Pick<Attempt, 'lease' | 'startedAt'>,
  policy: WitnessPolicy,
  now: Instant,
): Testimony => {
  const until =
    attempt.startedAt + (longestPreparationSeconds(policy) + policy.sesTimeoutSeconds + policy.witnessMarginSeconds) * 1000;
  const isHeld = witness.holds.some(({ lease, sentAt }) =>
    lease === undefined
      ? sentAt <= until && sentAt >= attempt.startedAt - policy.witnessMarginSeconds * 1000
      : lease === attempt.lease,
  );
  const isFull = witness.holds.length > MOST_HOLDS - HOLDS_AT_ONCE;
  if (!isHeld && !isFull && witness.mark !== undefined && witness.mark > until) return 'unsent';
  // A canary sent sooner could not have moved the mark far enough.
  const answered = witness.canaries.some((sentAt) => sentAt > until && sentAt + policy.holdAfterSeconds * 1000 <= now);
  return answered ? 'silent' : 'wait';
};

/** Canaries worth remembering: the newest one that is old enough to end a wait, and all after it. */
export const keepCanaries = (canaries: readonly Instant[], { holdAfterSeconds }: WitnessPolicy, now: Instant): Instant[] => {
  const sorted = canaries.toSorted((a, b) => a - b);
  const ripe = sorted.filter((sentAt) => sentAt + holdAfterSeconds * 1000 <= now).length;
  // Beyond that the newest go: one that is about to end a wait must not be pushed out.
  return sorted.slice(Math.max(0, ripe - 1)).slice(0, MOST_CANARIES);
};

/** One a minute for two hours. */
const MOST_CANARIES = 120;

/** SES's clock is not ours, and the mark moves in steps: a mail this close to it has been heard of. */
const SLACK_MS = 120_000;

/** Whether events do not come. @param newestSentAt when SES took the newest mail of which an event is due; undefined: there is none */
export const isSilent = ({ mark = 0 }: Pick<Witness, 'mark'>, newestSentAt: Instant | undefined): boolean =>
  newestSentAt !== undefined && mark + SLACK_MS < newestSentAt;
