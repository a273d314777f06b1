import type { AccountQuota } from '../dispatch/send-estimate.ts';
import type { Instant } from '../shared/instant.ts';

/** The SES account as GetAccount described it. */
export interface Account {
  /** Mails per second. */
  readonly rate: number;
  /** Mails in any 24 hours. Infinity: no limit. */
  readonly perDay: number;
  /** Mails of the last 24 hours. */
  readonly sentLastDay: number;
  readonly sendingEnabled: boolean;
  /** When the call began. */
  readonly fetchedAt: Instant;
}

const MINUTE_MS = 60_000;
/** The sweeper reads every five minutes; beyond this it has missed a pass, and senders read too. */
const REFRESH_AFTER_MS = 6 * MINUTE_MS;
/** Three passes without an answer: the rate is still the best one known, but no date is promised from it. */
const OUTDATED_AFTER_MS = 15 * MINUTE_MS;

/** The rate of an account in the sandbox: what any account allows. */
const LOWEST_RATE = 1;

/** Whether a sender should read the account, since the sweeper has not. */
export const needsRefresh = ({ fetchedAt }: Account, now: Instant): boolean => now - fetchedAt > REFRESH_AFTER_MS;

/** Whether the account is too old, or missing, to promise anything from it. */
export const isOutdated = (account: Account | undefined, now: Instant): boolean =>
  account === undefined || now - account.fetchedAt > OUTDATED_AFTER_MS;

/**
 * Mails per second to send at, before the share of this service is taken.
 * @param maxSendRate the setting; 0: as many as the account allows
 */
export const sendRateOf = (account: Account | undefined, maxSendRate: number): number => {
  if (account === undefined) return maxSendRate > 0 ? maxSendRate : LOWEST_RATE;
  const rate = Math.max(LOWEST_RATE, account.rate);
  return maxSendRate > 0 ? Math.min(rate, maxSendRate) : rate;
};

/** What an estimate may rely on; undefined: nothing, since the account is outdated or may not send. */
export const quotaOf = (
  account: Account | undefined,
  { maxSendRate, rateShare }: { readonly maxSendRate: number; readonly rateShare: number },
  now: Instant,
): AccountQuota | undefined => {
  if (account === undefined || isOutdated(account, now)) return undefined;
  const { rate, perDay, sentLastDay, sendingEnabled } = account;
  if (!sendingEnabled || rate <= 0 || perDay <= 0) return undefined;
  return { maxSendRate: maxSendRate > 0 ? Math.min(rate, maxSendRate) : rate, rateShare, perDay, sentLastDay };
};

/** The used part of the quota of 24 hours, from 0 to 1; undefined: the account has no limit. */
export const usedShareOf = ({ perDay, sentLastDay }: Account): number | undefined =>
  perDay > 0 && perDay < Infinity ? sentLastDay / perDay : undefined;
