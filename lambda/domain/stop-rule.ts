import type { Instant } from './instant.ts';

const DAY_MS = 24 * 3_600_000;

/** Why a dispatch was stopped. */
export type StopReason = (typeof STOP_REASONS)[number];

/** Every reason, in the order a reader expects. */
export const STOP_REASONS = ['permanent-failures', 'bad-signs', 'stale'] as const;

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
export interface MailSigns {
  readonly sent: number;
  readonly bounced: number;
}

const BOUNCES_ALLOWED = 10;
/** One bounce in so many mails is allowed; SES pauses accounts from about there. */
const MAILS_PER_BOUNCE = 10;

/** Whether so many mails bounced that the addresses are probably wrong, and more of them would harm the account. */
export const areBad = ({ sent, bounced }: MailSigns): boolean => bounced > BOUNCES_ALLOWED && bounced * MAILS_PER_BOUNCE > sent;

/** How many more bounces it takes at least before it is worth counting the rows again. */
export const bouncesUntilBad = ({ sent, bounced }: MailSigns): number =>
  Math.max(1, BOUNCES_ALLOWED + 1 - bounced, Math.floor(sent / MAILS_PER_BOUNCE) + 1 - bounced);

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
