import { paceOf } from '../sending/pace.ts';
import type { Instant } from '../shared/instant.ts';

/** What the account allows. */
export interface AccountQuota {
  /** Mails per second. */
  readonly maxSendRate: number;
  /** The part of it that this service uses. */
  readonly rateShare: number;
  /** Mails per second that the deployed senders can send, whatever the account allows. @default - no limit */
  readonly ceiling?: number;
  /** Mails in any 24 hours. Infinity: as many as it likes. */
  readonly perDay: number;
  /** Mails of the last 24 hours. */
  readonly sentLastDay: number;
}

/** When a dispatch will have been sent, as things are now. */
export interface SendEstimate {
  readonly mailsPerSecond: number;
  /** The last mail goes out by then, if nothing holds it up. */
  readonly doneAt: Instant;
  /** Mails of this dispatch that the quota of 24 hours does not allow today. */
  readonly waitingForNextWindow: number;
}

const DAY_MS = 86_400_000;

/**
 * Estimates from the account's rate and what is left of its quota. Mails beyond it wait until the mails of the last 24
 * hours are that old, so each window that has to be waited for counts as a whole day.
 * @param waiting mails that were there before
 * @param total mails of this dispatch
 */
export const estimateSending = (quota: AccountQuota, waiting: number, total: number, now: Instant): SendEstimate => {
  const mailsPerSecond = Math.min(paceOf(quota.maxSendRate, quota.rateShare, 1), quota.ceiling ?? Infinity);
  const left = Math.max(0, quota.perDay - quota.sentLastDay);
  const beyond = Math.max(0, waiting + total - left);
  const windows = beyond === 0 ? 0 : Math.ceil(beyond / quota.perDay);
  const inLastWindow = windows === 0 ? waiting + total : beyond - (windows - 1) * quota.perDay;
  return {
    mailsPerSecond,
    doneAt: now + windows * DAY_MS + Math.ceil((inLastWindow / mailsPerSecond) * 1000),
    waitingForNextWindow: Math.min(total, beyond),
  };
};
