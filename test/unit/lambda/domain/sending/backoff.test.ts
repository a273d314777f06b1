import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { nextAttemptAt } from '../../../../../lambda/domain/sending/backoff.ts';
import { T0 } from '../../../../support/clock.ts';

const policy = { baseSeconds: 30, capSeconds: 3600 };

describe('the wait before the next attempt (Q5)', () => {
  it.each([
    [1, 15, 30],
    [2, 45, 90],
    [3, 135, 270],
    [4, 405, 810],
    [5, 1_215, 2_430],
    [6, 1_800, 3_600],
    [7, 1_800, 3_600],
  ])('after attempt %i is from %i s to %i s', (n, least, most) => {
    expect(nextAttemptAt(policy, n, T0, 0)).toBe(T0 + least * 1000);
    expect(nextAttemptAt(policy, n, T0, 1)).toBe(T0 + most * 1000);
  });

  it('is fixed for one half, jitter for the other, and never beyond the cap', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 600 }),
        fc.integer({ min: 1, max: 43_200 }),
        fc.integer({ min: 1, max: 1_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (baseSeconds, capSeconds, n, random) => {
          const full = Math.min(baseSeconds * 3 ** (n - 1), capSeconds) * 1000;
          const wait = nextAttemptAt({ baseSeconds, capSeconds }, n, T0, random) - T0;

          expect(wait).toBeGreaterThanOrEqual(Math.floor(full / 2));
          expect(wait).toBeLessThanOrEqual(Math.ceil(full));
          expect(wait).toBeLessThanOrEqual(capSeconds * 1000);
        },
      ),
    );
  });

  it('of seven attempts takes about two hours in all', () => {
    const waits = [1, 2, 3, 4, 5, 6].map((n) => nextAttemptAt(policy, n, 0, 1) / 3_600_000);

    expect(waits.reduce((sum, wait) => sum + wait)).toBeCloseTo(2, 0);
  });
});
