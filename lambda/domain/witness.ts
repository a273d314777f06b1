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

/** Holds that are kept; when there is no more room the mark stays, and nothing counts as unsent. */
export const MOST_HOLDS = 300;

/** No mail waits longer for its events than a dead letter is kept. */
export const HOLD_DAYS = 14;

export interface WitnessPolicy {
  readonly sesTimeoutSeconds: number;
  /** How much later than the attempt's last possible moment a mail must be whose events were applied. */
  readonly witnessMarginSeconds: number;
  /** How long to wait for a sign after a canary before a person has to decide. */
  readonly holdAfterSeconds: number;
}

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
  const until = attempt.startedAt + (policy.sesTimeoutSeconds + policy.witnessMarginSeconds) * 1000;
  const isHeld = witness.holds.some(({ lease, sentAt }) =>
    lease === undefined
      ? sentAt <= until && sentAt >= attempt.startedAt - policy.witnessMarginSeconds * 1000
      : lease === attempt.lease,
  );
  if (!isHeld && witness.mark !== undefined && witness.mark > until) return 'unsent';
  const answered = witness.canaries.some(
    (sentAt) => sentAt > attempt.startedAt && sentAt + policy.holdAfterSeconds * 1000 <= now,
  );
  return answered ? 'silent' : 'wait';
};

/** Canaries worth remembering: the newest one that is old enough to end a wait, and all after it. */
export const keepCanaries = (canaries: readonly Instant[], { holdAfterSeconds }: WitnessPolicy, now: Instant): Instant[] => {
  const sorted = canaries.toSorted((a, b) => a - b);
  const ripe = sorted.filter((sentAt) => sentAt + holdAfterSeconds * 1000 <= now).length;
  return sorted.slice(Math.max(0, ripe - 1)).slice(-MOST_CANARIES);
};

/** One a minute for two hours. */
const MOST_CANARIES = 120;
