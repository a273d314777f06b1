import type { Instant } from '../shared/instant.ts';

/** How long to wait between the attempts of one recipient. */
export interface BackoffPolicy {
  readonly baseSeconds: number;
  readonly capSeconds: number;
}

/** Each wait is three times the one before. */
const FACTOR = 3;

/**
 * When to try again after attempt number `n` (from 1) failed: half of base × 3^(n-1), at most the cap, is fixed and
 * half is jitter, so that recipients who failed together do not come back together.
 * @param random from 0 up to 1
 */
export const nextAttemptAt = (policy: BackoffPolicy, n: number, now: Instant, random: number): Instant => {
  const full = Math.min(policy.baseSeconds * FACTOR ** (n - 1), policy.capSeconds) * 1000;
  return now + Math.round(full / 2 + (full / 2) * random);
};
