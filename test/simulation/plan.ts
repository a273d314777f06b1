import type { SendPolicy } from '../../lambda/application/send/finished-attempt.ts';
import { FAILURES_TO_STOP } from '../../lambda/domain/dispatch/stop-rule.ts';
import type { ResolvePolicy } from '../../lambda/domain/recipient/unclear.ts';
import type { Instant } from '../../lambda/domain/shared/instant.ts';
import { aPolicy } from '../support/builders.ts';
import { T0 } from '../support/clock.ts';
import type { Dice } from './dice.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** From when to when something is in trouble. */
export interface Window {
  readonly from: Instant;
  readonly to: Instant;
}

export const isWithin = (windows: readonly Window[], now: Instant): boolean =>
  windows.some(({ from, to }) => from <= now && now < to);

/** What a person does, and when. */
export interface OperatorAction {
  readonly at: Instant;
  readonly what: 'pause' | 'resume-sending' | 'cancel' | 'resume-dispatch' | 'redrive';
}

/** How often something goes wrong, from 0 to 1. */
export interface Rates {
  readonly crash: number;
  /** Delays of up to three seconds. */
  readonly slow: number;
  /** Delays longer than an invocation may last. */
  readonly stall: number;
  /** A write was carried out, its answer was lost, and the SDK repeats it. */
  readonly repeated: number;
  /** The table gives no answer at all; half of the time it did what it was asked for. */
  readonly unanswered: number;
  /** An error that nobody expects. */
  readonly error: number;
  /** A message is given to two at once. */
  readonly deliveredTwice: number;
  /** A message that was done with stays on the queue. */
  readonly undeleted: number;
  /** A message that was to be sent, or hidden, is not. */
  readonly queueTrouble: number;
}

/** How often SES answers so, from 0 to 1; otherwise it takes the mail and says so. */
export interface SesRates {
  readonly throttled: number;
  readonly transient: number;
  readonly account: number;
  readonly permanent: number;
  readonly unclearTaken: number;
  readonly unclearLost: number;
  /** SES itself says that it failed, and did not take the mail. */
  readonly answered: number;
}

/** What becomes of SES's events. */
export interface EventPlan {
  readonly lost: number;
  readonly twice: number;
  /** Events that come minutes late. */
  readonly late: number;
  readonly latestMs: number;
}

/** Everything that a seed decides before anything happens. */
export interface Plan {
  readonly policy: SendPolicy & ResolvePolicy;
  readonly functionMs: number;
  readonly dispatches: readonly { readonly recipients: number; readonly shards: number; readonly acceptedAt: Instant }[];
  readonly senders: number;
  readonly batchSize: number;
  readonly parallelCalls: number;
  readonly maxSendRate: number;
  /** No clock is further from the true time. */
  readonly skewMs: number;
  readonly feedbackReceives: number;
  /** Part of the recipients whose mail SES refuses for good. */
  readonly refused: number;
  readonly rates: Rates;
  readonly ses: SesRates;
  readonly events: EventPlan;
  readonly outages: readonly Window[];
  readonly accountTrouble: readonly Window[];
  /** Refusals for the account's sake are for the daily quota, which counts no canary. */
  readonly isQuotaUsedUp: boolean;
  /** Part of the rows that feedback cannot write while {@link stuckRows} lasts. */
  readonly stuck: number;
  readonly stuckRows: readonly Window[];
  /** Events wait so long for others, to be handled together. */
  readonly feedbackWindowMs: number;
  /** Feedback is behind: events wait for minutes, in no order. */
  readonly feedbackBacklog: readonly Window[];
  /** SES refuses every canary. */
  readonly areCanariesRefused: boolean;
  /** Dead letters are redriven when the sweeper is about to look. */
  readonly isRedrivenAtSweeps: boolean;
  readonly firstSweepMs: number;
  readonly firstWalkMs: number;
  readonly sweepMs: number;
  readonly revisitMs: number;
  readonly actions: readonly OperatorAction[];
  /** Nothing goes wrong any more from then on. */
  readonly calmAt: Instant;
}

/** What a schedule is mostly about, so that what is rare on the whole is common somewhere. */
const THEMES = ['anything', 'lost-answers', 'stuck-events', 'table', 'pauses', 'reopenings', 'backlog', 'nights'] as const;

export type Theme = (typeof THEMES)[number] | 'refusals' | 'long-runs';

/** Half of the kinds of trouble are left out of a schedule, so that each is seen with and without each other. */
const rate = (dice: Dice, most: number, isTheme = false): number => {
  if (isTheme) return most * dice.between(0.3, 1);
  return dice.chance(0.5) ? 0 : most * dice.next() ** 2;
};

const window = (dice: Dice, calmAt: Instant, longestMs: number, isTheme = false): Window[] => {
  if (dice.chance(isTheme ? 0 : 0.75)) return [];
  // Most mails are sent in the first minute.
  const from = dice.chance(isTheme ? 0.7 : 0.2) ? T0 : dice.between(T0, calmAt - MINUTE);
  return [{ from, to: Math.min(calmAt, from + dice.between(longestMs / 20, longestMs)) }];
};

/** Draws a schedule. @param given its theme; otherwise that is drawn, too */
export const drawPlan = (dice: Dice, given?: Theme): Plan => {
  const theme = given ?? drawTheme(dice);
  const calmAt = T0 + Math.round(dice.between((theme === 'nights' ? 30 : 3) * MINUTE, 35 * MINUTE));
  const attemptsPerRound = dice.whole(1, theme === 'reopenings' ? 2 : 4);
  const isOftenSwept = theme === 'reopenings' && dice.chance(0.6);
  return {
    policy: aPolicy({
      attemptsPerRound,
      maxReceiveCount: attemptsPerRound + 4,
      unclear:
        theme === 'backlog' || theme === 'nights' ? 'auto' : dice.pick(['auto', 'auto', 'auto', 'auto', 'resend', 'manual']),
      unknownAfterSeconds: theme === 'nights' ? 600 : dice.pick([600, 1200]),
    }),
    // A function that may outlive its lease is no setting of ours; it shows that the lease alone keeps two from sending.
    functionMs: theme === 'long-runs' ? 900 * SECOND : 30 * SECOND,
    dispatches: drawDispatches(dice, theme),
    senders: dice.whole(2, 4),
    batchSize: dice.whole(1, 5),
    parallelCalls: dice.whole(1, 5),
    maxSendRate: dice.pick([2, 14, 1000]),
    skewMs: dice.chance(0.5) ? 0 : 5 * SECOND,
    feedbackReceives: dice.pick([6, 203]),
    refused: theme === 'refusals' ? dice.between(0.7, 1) : rate(dice, 0.2),
    rates: drawRates(dice, theme),
    ses: drawSesRates(dice, theme),
    events: drawEvents(dice, theme),
    outages: window(dice, calmAt, 6 * MINUTE, theme === 'table'),
    accountTrouble: window(dice, calmAt, 5 * MINUTE, theme === 'pauses'),
    isQuotaUsedUp: dice.chance(0.4),
    stuck: rate(dice, 1, theme === 'stuck-events'),
    stuckRows: window(dice, calmAt, 30 * MINUTE, theme === 'stuck-events'),
    feedbackWindowMs: theme === 'stuck-events' ? 5_000 : dice.pick([200, 2_000]),
    feedbackBacklog: window(dice, calmAt, 30 * MINUTE, theme === 'backlog'),
    areCanariesRefused: dice.chance(0.1),
    isRedrivenAtSweeps: isOftenSwept && dice.chance(0.8),
    firstSweepMs: dice.between(0, 5 * MINUTE),
    firstWalkMs: dice.between(0, MINUTE),
    sweepMs: (isOftenSwept ? 20 : 300) * SECOND,
    revisitMs: (isOftenSwept ? 20 : 900) * SECOND,
    actions: drawActions(dice, calmAt, theme),
    calmAt,
  };
};

const drawTheme = (dice: Dice): Theme => (dice.chance(0.1) ? dice.pick(['refusals', 'long-runs'] as const) : dice.pick(THEMES));

const drawDispatches = (dice: Dice, theme: Theme): Plan['dispatches'] => {
  // The rule that stops a dispatch needs ten refused mails.
  if (theme === 'refusals') {
    return [{ recipients: dice.whole(FAILURES_TO_STOP, FAILURES_TO_STOP + 3), shards: 1, acceptedAt: T0 }];
  }
  // So does the one that pauses.
  if (theme === 'pauses' && dice.chance(0.5)) return [{ recipients: dice.whole(10, 14), shards: 1, acceptedAt: T0 }];
  const first = { recipients: dice.whole(1, theme === 'reopenings' ? 2 : 4), shards: dice.whole(1, 2), acceptedAt: T0 };
  if (dice.chance(theme === 'reopenings' ? 0.8 : 0.3)) return [first];
  // Late enough for its events to move the watermark beyond the first one's mails.
  return [first, { recipients: dice.whole(1, 3), shards: 1, acceptedAt: T0 + dice.between(0, 6 * MINUTE) }];
};

const drawRates = (dice: Dice, theme: Theme): Rates => ({
  crash: rate(dice, 0.15),
  slow: rate(dice, 0.4, theme === 'pauses' || theme === 'reopenings'),
  stall: theme === 'long-runs' ? dice.between(0.01, 0.08) : rate(dice, 0.03),
  repeated: rate(dice, 0.4, theme === 'table'),
  unanswered: rate(dice, theme === 'stuck-events' ? 0.5 : 0.25, theme === 'table' || theme === 'stuck-events'),
  error: rate(dice, 0.05),
  deliveredTwice: rate(dice, 0.4),
  undeleted: rate(dice, 0.2),
  queueTrouble: rate(dice, 0.3),
});

const drawSesRates = (dice: Dice, theme: Theme): SesRates => {
  const isLosing =
    theme === 'lost-answers' || theme === 'backlog' || theme === 'nights' || theme === 'stuck-events' || theme === 'long-runs';
  return {
    throttled: rate(dice, 0.4),
    transient: rate(dice, 0.8, theme === 'reopenings'),
    account: rate(dice, 0.1, theme === 'pauses'),
    permanent: rate(dice, 0.05),
    unclearTaken: rate(dice, 0.6, isLosing),
    unclearLost: rate(dice, 0.4, theme === 'lost-answers'),
    answered: rate(dice, 0.5),
  };
};

const drawEvents = (dice: Dice, theme: Theme): EventPlan => {
  const twice = rate(dice, 0.3);
  if (theme === 'nights') return { lost: 1, twice: 0, late: 0, latestMs: 0 };
  const eventPlans =
    theme === 'stuck-events' || theme === 'backlog'
      ? (['prompt', 'late'] as const)
      : (['prompt', 'late', 'late', 'lossy', 'none'] as const);
  switch (dice.pick(eventPlans)) {
    case 'prompt':
      return { lost: 0, twice, late: 0, latestMs: 0 };
    case 'late':
      return { lost: 0, twice, late: dice.between(0.1, 0.6), latestMs: dice.pick([7 * MINUTE, 30 * MINUTE]) };
    case 'lossy':
      return { lost: dice.between(0.05, 0.5), twice, late: rate(dice, 0.3), latestMs: 7 * MINUTE };
    case 'none':
      return { lost: 1, twice: 0, late: 0, latestMs: 0 };
  }
};

const ACTIONS: Readonly<Record<Theme, readonly OperatorAction['what'][]>> = {
  anything: ['pause', 'resume-sending', 'redrive', 'resume-dispatch', 'cancel'],
  'lost-answers': ['redrive', 'cancel'],
  'stuck-events': [],
  table: ['pause', 'resume-sending', 'redrive'],
  pauses: ['pause', 'pause', 'resume-sending'],
  backlog: ['redrive'],
  nights: ['pause'],
  reopenings: ['redrive'],
  refusals: ['resume-dispatch', 'resume-dispatch', 'cancel', 'redrive'],
  'long-runs': ['pause', 'redrive', 'cancel'],
};

const drawActions = (dice: Dice, calmAt: Instant, theme: Theme): OperatorAction[] => {
  const whats = ACTIONS[theme];
  // The last mails are sent, and a person pauses for the night.
  if (theme === 'nights') return [{ at: Math.round(dice.between(T0 + MINUTE, T0 + 8 * MINUTE)), what: 'pause' }];
  if (whats.length === 0 || dice.chance(0.3)) return [];
  return Array.from({ length: dice.whole(1, 6) }, () => ({ at: Math.round(dice.between(T0, calmAt)), what: dice.pick(whats) }));
};
