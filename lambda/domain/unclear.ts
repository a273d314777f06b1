import { type Attempt, countUnclear } from './attempt.ts';

/** What follows an attempt whose outcome nobody knows: one more attempt in the round, or none. */
export type UnclearPolicy = 'resend' | 'hold';

/** Decides what an ended lease without a known outcome means: go on sending, or leave it to a person. */
export const settleUnclear = (
  policy: UnclearPolicy,
  current: { readonly round: number; readonly attemptCount: number },
  attempts: readonly Attempt[],
  attemptsPerRound: number,
): 'settled-unsent' | 'settled-unknown' => {
  if (policy === 'hold') return 'settled-unknown';
  // Out of attempts is no proof of failure: the last one may have been taken.
  if (current.attemptCount >= attemptsPerRound) return 'settled-unknown';
  return countUnclear(attempts, current.round) <= 1 ? 'settled-unsent' : 'settled-unknown';
};
