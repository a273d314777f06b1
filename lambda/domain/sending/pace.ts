import type { Instant } from '../shared/instant.ts';

/**
 * Mails per second for one sender.
 * @param maxSendRate mails per second of the account
 * @param rateShare the part of it that this service uses; the rest is left to other senders of the account
 */
export const paceOf = (maxSendRate: number, rateShare: number, senders: number): number => (maxSendRate * rateShare) / senders;

/** SES calls of one chunk: a second's worth, at least one, at most what may be under way at once. */
export const chunkSize = (pace: number, parallelCalls: number): number =>
  Math.max(1, Math.min(Math.floor(pace), parallelCalls, STATEMENTS_PER_BATCH));

/** DynamoDB takes 25 statements in a BatchExecuteStatement. */
export const STATEMENTS_PER_BATCH = 25;

/** A token bucket: a token is one mail. */
export interface Bucket {
  readonly tokens: number;
  readonly at: Instant;
}

/** A new sender starts with one token, so that many new ones do not burst. */
export const newBucket = (now: Instant): Bucket => ({ tokens: 1, at: now });

/** Takes `n` tokens, on credit if need be, and says how long to wait until they are there. */
export const take = (
  bucket: Bucket,
  n: number,
  { pace, capacity }: { readonly pace: number; readonly capacity: number },
  now: Instant,
): { readonly bucket: Bucket; readonly waitMs: number } => {
  const filled = Math.min(capacity, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * pace);
  const tokens = filled - n;
  return { bucket: { tokens, at: now }, waitMs: tokens >= 0 ? 0 : Math.ceil((-tokens / pace) * 1000) };
};

/** How much a sender holds back after SES throttled it: 1 is full pace. */
export interface Restraint {
  readonly factor: number;
  readonly at: Instant;
}

const LOWEST_FACTOR = 0.1;
/** From half to full in ten seconds without a throttle. */
const RECOVERY_PER_SECOND = 0.05;

export const NO_RESTRAINT: Restraint = { factor: 1, at: 0 };

/** The part of the pace to keep to now. */
export const restraintNow = ({ factor, at }: Restraint, now: Instant): number =>
  Math.min(1, factor + (Math.max(0, now - at) / 1000) * RECOVERY_PER_SECOND);

/** Halves the pace; the answers of one second count as one sign. */
export const throttled = (restraint: Restraint, now: Instant): Restraint =>
  now - restraint.at < 1000 ? restraint : { factor: Math.max(LOWEST_FACTOR, restraintNow(restraint, now) / 2), at: now };
