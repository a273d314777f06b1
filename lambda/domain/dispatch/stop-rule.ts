import type { Instant } from '../shared/instant.ts';

const DAY_MS = 24 * 3_600_000;

/** Why a dispatch was stopped. */
export type StopReason = (typeof STOP_REASONS)[number];

/** Every reason, in the order a reader expects. */
export const STOP_REASONS = [
  'permanent-failures',
  'high-bounce-rate',
  'high-complaint-rate',
  'stale',
  'recipients-unreadable',
  'content-unreadable',
  /** SES refuses this dispatch's mails as it would refuse the whole account, and accepts others. */
  'refused-though-account-works',
  /** Its mails are from an address that this service no longer sends from. */
  'sender-not-configured',
  /** The table was restored: mails sent after the restore point look as if they were still to be sent. */
  'table-restored',
] as const;

/** Rows that became final since the dispatch was accepted or resumed. */
export interface FinalRows {
  readonly final: number;
  /** FAILED for good, not by used-up attempts. */
  readonly refused: number;
  /** Their codes. */
  readonly codes: ReadonlySet<string>;
  /** When the first of them failed. */
  readonly since: Instant | undefined;
}

/** How a dispatch was stopped. */
export interface Stop {
  readonly reason: StopReason;
  /** The one code of all failures, if there is one: a resume reopens those that failed by it. */
  readonly faultCode?: string;
  readonly faultSince?: Instant;
}

/** Failures from which on it is worth counting the rows. */
export const FAILURES_TO_STOP = 10;

/** Stops a dispatch whose mails are mostly refused: what is wrong with them is probably wrong with all. */
export const stopFor = ({ final, refused, codes, since }: FinalRows): Stop | undefined => {
  if (refused < FAILURES_TO_STOP || refused * 2 <= final) return undefined;
  const [faultCode] = codes;
  return {
    reason: 'permanent-failures',
    ...(codes.size === 1 && faultCode !== undefined && { faultCode }),
    ...(since !== undefined && { faultSince: since }),
  };
};

/** How many more failures it takes at least before it is worth counting the rows again. */
export const failuresUntilStop = ({ final, refused }: FinalRows): number =>
  Math.max(1, FAILURES_TO_STOP - refused, final - refused * 2 + 1);

/** What became of the mails of a dispatch that SES took since it was accepted or resumed. */
export interface BounceStatistics {
  readonly sent: number;
  /** Permanent bounces; a suppressed address and a soft bounce are none. */
  readonly bounced: number;
  readonly complained: number;
}

/** A rate is exceeded beyond both numbers. */
interface Limit {
  readonly of: 'bounced' | 'complained';
  readonly allowed: number;
  /** One in so many mails is allowed. SES may pause an account from this rate on. */
  readonly mailsForOne: number;
}

/** 10 % and 0.5 %, as in AWS's "Amazon SES Sending review process FAQs". */
const BOUNCES: Limit = { of: 'bounced', allowed: 10, mailsForOne: 10 };
const COMPLAINTS: Limit = { of: 'complained', allowed: 5, mailsForOne: 200 };

/** The statistics of two shards together. */
export const addBounceStatistics = (a: BounceStatistics, b: BounceStatistics): BounceStatistics => ({
  sent: a.sent + b.sent,
  bounced: a.bounced + b.bounced,
  complained: a.complained + b.complained,
});

/** No mails yet. */
export const NO_BOUNCE_STATISTICS: BounceStatistics = { sent: 0, bounced: 0, complained: 0 };

/** Which rate of a dispatch harms the account, so that no more of its mails should go out; undefined: neither. */
export const exceededRate = (statistics: BounceStatistics): 'high-bounce-rate' | 'high-complaint-rate' | undefined => {
  if (isExceeded(BOUNCES, statistics)) return 'high-bounce-rate';
  return isExceeded(COMPLAINTS, statistics) ? 'high-complaint-rate' : undefined;
};

const isExceeded = ({ of, allowed, mailsForOne }: Limit, statistics: BounceStatistics): boolean =>
  statistics[of] > allowed && statistics[of] * mailsForOne > statistics.sent;

/** How many more bounces, or else complaints, it takes at least before it is worth counting the rows again. */
export const untilRateExceeded = (statistics: BounceStatistics): Readonly<Record<Limit['of'], number>> => ({
  bounced: untilExceeded(BOUNCES, statistics),
  complained: untilExceeded(COMPLAINTS, statistics),
});

const untilExceeded = ({ of, allowed, mailsForOne }: Limit, statistics: BounceStatistics): number =>
  Math.max(1, allowed + 1 - statistics[of], Math.floor(statistics.sent / mailsForOne) + 1 - statistics[of]);

/** What the sweeper knows of a dispatch that has overdue rows. */
export interface Age {
  /** Since when something should have been done. */
  readonly dueSince: Instant;
  /** When it was last known what became of one of its mails, or it was accepted or resumed. */
  readonly lastOutcomeAt: Instant;
  /** When the sweeper last looked at it, or a pause stood. */
  readonly lastTraceAt: Instant;
}

/** Old mail that an outage or a restored table brings up again: a person decides before it goes out. */
export const isStale = ({ dueSince, lastOutcomeAt, lastTraceAt }: Age, now: Instant): boolean =>
  [dueSince, lastOutcomeAt, lastTraceAt].every((at) => now - at > DAY_MS);
