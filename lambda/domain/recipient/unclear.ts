import { type BackoffPolicy, nextAttemptAt } from '../sending/backoff.ts';
import { evaluateSilence, type FeedbackState, isBelieved, type SilencePolicy, silentAfter } from '../sending/watermark.ts';
import type { Instant } from '../shared/instant.ts';
import { type Attempt, countLostBefore } from './attempt.ts';
import type { RecipientIn, RecipientKey } from './recipient.ts';

/** What follows an attempt whose outcome nobody knows: SES's events decide, the mail is sent again, or a person decides. */
export const UNCLEAR_POLICIES = ['auto', 'resend', 'manual'] as const;

export type UnclearPolicy = (typeof UNCLEAR_POLICIES)[number];

/** How unclear attempts are resolved. */
export interface ResolvePolicy extends SilencePolicy {
  readonly unclear: UnclearPolicy;
  readonly attemptsPerRound: number;
  readonly backoff: BackoffPolicy;
  /** After feedback was behind nothing is concluded from silence for that long. */
  readonly leaseSeconds: number;
  /** How long until an event that could not be applied is handed out again, and applied. */
  readonly redeliverySeconds: number;
  /** Waiting time after which a person has to decide. */
  readonly unknownAfterSeconds: number;
  /** Mails that may follow lost ones in a round: so many copies beyond the first are possible. */
  readonly resendsAfterLost: number;
}

/** An attempt whose outcome is unclear, as it waits in the ledger. */
export interface UnclearAttempt {
  readonly key: RecipientKey;
  readonly lease: string;
  /** When its lease ends. */
  readonly dueAt: Instant;
  /** The waiting clock when it was first looked at, in seconds; absent: it was not yet. */
  readonly notedAt?: number;
  /** When SES's events were first found to be silent about it. */
  readonly silentAt?: Instant;
  /** Its row could not be read, and is not read again before then. */
  readonly retryAt?: Instant;
}

/** A mail to SES's simulator, sent only so that SES publishes an event. */
export interface Canary {
  readonly sentAt: Instant;
  /** The waiting clock then, in seconds. */
  readonly clock: number;
}

/** The one clock of all that wait: it stands still while sending is paused. */
export interface WaitingClock {
  readonly seconds: number;
  /** When it was last moved; absent: never. */
  readonly movedAt?: Instant;
  /** Canaries that SES took, oldest first. */
  readonly canaries: readonly Canary[];
}

/** Moves the clock on. A long gap between two walks counts no more than two leases. */
export const moveClock = (
  clock: WaitingClock,
  isPaused: boolean,
  { leaseSeconds, unknownAfterSeconds }: Pick<ResolvePolicy, 'leaseSeconds' | 'unknownAfterSeconds'>,
  now: Instant,
): WaitingClock => {
  const sinceMs = Math.max(0, now - (clock.movedAt ?? now));
  const passed = isPaused ? 0 : Math.min(sinceMs / 1000, 2 * leaseSeconds);
  const seconds = clock.seconds + passed;
  return { seconds, movedAt: now, canaries: keepCanaries(clock.canaries, seconds - unknownAfterSeconds) };
};

/** The newest canary that is old enough to end a wait, and all after it. */
const keepCanaries = (canaries: readonly Canary[], ripeUntil: number): readonly Canary[] => {
  const ripe = canaries.filter(({ clock }) => clock <= ripeUntil).length;
  // Beyond that the newest go: one that is about to end a wait must not be pushed out.
  return canaries.slice(Math.max(0, ripe - 1)).slice(0, MOST_CANARIES);
};

/** One a minute for two hours. */
const MOST_CANARIES = 120;

/** What an unclear attempt comes to. `wait` may ask for a canary, so that an event moves the watermark. */
export type Verdict =
  | { readonly verdict: 'wait'; readonly silentAt?: Instant; readonly wantsCanary?: boolean }
  /** Taken as unsent: the next attempt may be made then. */
  | { readonly verdict: 'unsent'; readonly nextAttemptAt: Instant }
  | { readonly verdict: 'unknown' };

const UNKNOWN: Verdict = { verdict: 'unknown' };

/** What is known of everything but the attempt. */
export interface ResolveView {
  readonly feedback: FeedbackState;
  readonly clock: WaitingClock;
  readonly now: Instant;
  /** From 0 up to 1. */
  readonly random: number;
}

/** Decides what follows a lease that ended with the outcome open. */
export const decideUnclear = (
  policy: ResolvePolicy,
  recipient: RecipientIn<'PROCESSING'>,
  attempts: readonly Attempt[],
  item: Pick<UnclearAttempt, 'notedAt' | 'silentAt'>,
  view: ResolveView,
): Verdict => {
  const attempt = attempts.find(({ lease }) => lease === recipient.lease.token);
  if (policy.unclear === 'manual' || attempt === undefined) return UNKNOWN;
  if (policy.unclear === 'resend') return afterSilence(policy, recipient, attempt, attempts, view);
  return decideByEvents(policy, recipient, attempt, attempts, item, view);
};

const decideByEvents = (
  policy: ResolvePolicy,
  recipient: RecipientIn<'PROCESSING'>,
  attempt: Attempt,
  attempts: readonly Attempt[],
  { notedAt, silentAt }: Pick<UnclearAttempt, 'notedAt' | 'silentAt'>,
  view: ResolveView,
): Verdict => {
  const { feedback, clock, now } = view;
  const waited = clock.seconds - (notedAt ?? clock.seconds);
  // Whatever keeps SES's events away: a person is told after that.
  if (waited >= 2 * policy.unknownAfterSeconds) return UNKNOWN;
  const silence = evaluateSilence(feedback, attempt, policy);
  const isBehindStill = feedback.behindAt !== undefined && now < feedback.behindAt + policy.leaseSeconds * 1000;
  if (silence === 'silent') {
    if (!isBelieved(feedback, silentAt)) return { verdict: 'wait', silentAt: now };
    // While the table was away events may have failed without a trace: each of them has come again after this.
    const isRedelivered = silentAt + policy.redeliverySeconds * 1000 <= now;
    return isRedelivered && !isBehindStill ? afterSilence(policy, recipient, attempt, attempts, view) : { verdict: 'wait' };
  }
  const isOver = !isBehindStill && waited >= policy.unknownAfterSeconds && isCanaryRipe(attempt, policy, clock);
  return isOver ? UNKNOWN : { verdict: 'wait', wantsCanary: silence === 'quiet' };
};

/** A canary that was sent sooner could not have moved the watermark far enough. */
const isCanaryRipe = (attempt: Attempt, policy: ResolvePolicy, { seconds, canaries }: WaitingClock): boolean =>
  canaries.some((canary) => canary.sentAt > silentAfter(attempt, policy) && canary.clock + policy.unknownAfterSeconds <= seconds);

/** SES answered that it failed: the next attempt by backoff. A lost answer: few more mails in a round, so that copies are bounded. */
const afterSilence = (
  policy: ResolvePolicy,
  { round, attemptCount }: RecipientIn<'PROCESSING'>,
  { lease, answered }: Attempt,
  attempts: readonly Attempt[],
  { now, random }: ResolveView,
): Verdict => {
  const isAnswered = policy.unclear === 'auto' && answered === true;
  const lost = countLostBefore(attempts, round, lease) + (isAnswered ? 0 : 1);
  const isUsedUp = attemptCount >= policy.attemptsPerRound;
  // Used up after a lost one is no proof that nothing was sent.
  if (lost > policy.resendsAfterLost || (isUsedUp && lost > 0)) return UNKNOWN;
  // Used up after answers alone: due at once, and the sender that claims it ends it with its message in hand.
  const isByBackoff = isAnswered && !isUsedUp;
  return { verdict: 'unsent', nextAttemptAt: isByBackoff ? nextAttemptAt(policy.backoff, attemptCount, now, random) : now };
};
