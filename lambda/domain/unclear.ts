import { type Attempt, countUnclear } from './attempt.ts';
import type { Instant } from './instant.ts';
import type { In } from './recipient.ts';
import { hear, type Witness, type WitnessPolicy } from './witness.ts';

/** What follows an attempt whose outcome nobody knows: SES's events decide, one more attempt in the round, or none. */
export const UNCLEAR_POLICIES = ['auto', 'resend', 'hold'] as const;

export type UnclearPolicy = (typeof UNCLEAR_POLICIES)[number];

export interface SettlePolicy extends WitnessPolicy {
  readonly unclear: UnclearPolicy;
  readonly attemptsPerRound: number;
}

/** What an ended lease without a known outcome comes to. */
export type Verdict = 'unsent' | 'exhausted' | 'unknown' | 'wait' | 'wait-for-redelivery';

/** Decides it. @param witness needed by `auto` alone */
export const settleUnclear = (
  policy: SettlePolicy,
  { round, attemptCount, lease }: In<'PROCESSING'>,
  attempts: readonly Attempt[],
  witness: Witness | undefined,
  now: Instant,
): Verdict => {
  switch (policy.unclear) {
    case 'hold':
      return 'unknown';
    case 'resend':
      // Out of attempts is no proof of failure: the last one may have been taken.
      return attemptCount < policy.attemptsPerRound && countUnclear(attempts, round) <= 1 ? 'unsent' : 'unknown';
    case 'auto': {
      const attempt = attempts.find((each) => each.lease === lease.token);
      if (attempt === undefined) return 'unknown';
      if (witness === undefined) return 'wait';
      const testimony = hear(witness, attempt, policy, now);
      // While the table was away events may have failed that left no hold: each of them has come again after this.
      if (testimony === 'unsent' && attempt.silentAt === undefined) return 'wait-for-redelivery';
      if (testimony === 'unsent') return attemptCount < policy.attemptsPerRound ? 'unsent' : 'exhausted';
      return testimony === 'silent' ? 'unknown' : 'wait';
    }
  }
};
