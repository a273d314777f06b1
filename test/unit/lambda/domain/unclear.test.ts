import { describe, expect, it } from 'vitest';

import { type Attempt, ATTEMPTS_KEPT, countUnclear, withResult } from '../../../../lambda/domain/attempt.ts';
import { settleUnclear, type UnclearPolicy } from '../../../../lambda/domain/unclear.ts';
import { anAttempt } from '../../../support/builders.ts';

const lost = anAttempt({ lease: 'l-1', outcome: 'unclear' });
const died = anAttempt({ lease: 'l-2', n: 2 });
const retried = anAttempt({ lease: 'l-3', outcome: 'retry' });

describe('a lease that ended with the outcome open', () => {
  it.each<[string, UnclearPolicy, { round: number; attemptCount: number }, Attempt[], string]>([
    ['is sent again once under resend', 'resend', { round: 1, attemptCount: 1 }, [lost], 'settled-unsent'],
    ['is sent again once when the worker died', 'resend', { round: 1, attemptCount: 2 }, [died], 'settled-unsent'],
    ['is not sent a third time (L4)', 'resend', { round: 1, attemptCount: 2 }, [lost, died], 'settled-unknown'],
    ['is sent again after failures that were clear', 'resend', { round: 1, attemptCount: 2 }, [retried, died], 'settled-unsent'],
    [
      'is sent again once in each round',
      'resend',
      { round: 2, attemptCount: 1 },
      [lost, died, anAttempt({ round: 2, lease: 'l-4' })],
      'settled-unsent',
    ],
    ['is unknown when no attempt is left', 'resend', { round: 1, attemptCount: 7 }, [lost], 'settled-unknown'],
    ['is sent again with one attempt left', 'resend', { round: 1, attemptCount: 6 }, [lost], 'settled-unsent'],
    ['is unknown at once under hold', 'hold', { round: 1, attemptCount: 1 }, [lost], 'settled-unknown'],
  ])('%s', (_name, policy, current, attempts, expected) => {
    expect(settleUnclear(policy, current, attempts, 7)).toBe(expected);
  });
});

describe('the attempts of a recipient', () => {
  it('get a result by their lease, and the others stay', () => {
    expect(withResult([lost, died], 'l-2', { outcome: 'sent', messageId: 'ses-1', ms: 80 })).toEqual([
      lost,
      { ...died, outcome: 'sent', messageId: 'ses-1', ms: 80 },
    ]);
  });

  it('are the newest twenty', () => {
    const many = Array.from({ length: 25 }, (_, i) => anAttempt({ lease: `l-${i}`, n: i }));

    const kept = withResult(many, 'l-24', { outcome: 'sent' });

    expect(ATTEMPTS_KEPT).toBe(20);
    expect(kept.map(({ lease }) => lease)).toEqual(many.slice(5).map(({ lease }) => lease));
  });

  it('keep one whose mail may have been taken, through any number that were given back', () => {
    let attempts: Attempt[] = [lost];
    for (let i = 0; i < 100; i += 1) {
      const lease = `throttled-${i}`;
      attempts = withResult([...attempts, anAttempt({ lease, n: 2 })], lease, { outcome: 'given-back' });
    }

    expect(attempts).toHaveLength(20);
    expect(attempts.at(-1)?.lease).toBe('throttled-99');
    expect(countUnclear(attempts, 1)).toBe(1);
  });

  it('count as unclear in their round only, whether SES was silent or the worker', () => {
    expect(countUnclear([lost, died, retried, anAttempt({ round: 2, outcome: 'unclear' })], 1)).toBe(2);
  });
});
