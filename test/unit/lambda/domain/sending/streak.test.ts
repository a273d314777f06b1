import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  areHeavy,
  extended,
  isRun,
  type Losses,
  NO_STREAK,
  recentLosses,
  type Streak,
} from '../../../../../lambda/domain/sending/streak.ts';
import { T0 } from '../../../../support/clock.ts';

const people = (from: number, count: number): string[] => Array.from({ length: count }, (_, i) => `r-${from + i}`);
/** Chunks of so many different recipients, apart by so much. */
const after = (...chunks: readonly (readonly [count: number, atMs: number])[]): Streak => {
  let next = 0;
  return chunks.reduce<Streak>((streak, [count, atMs], chunk) => {
    next += count;
    return extended(streak, people(next - count, count), chunk, T0 + atMs);
  }, NO_STREAK);
};

describe('ten in a row', () => {
  it.each<[string, Streak, boolean]>([
    ['are ten of three chunks over two seconds', after([4, 0], [3, 1_000], [3, 2_000]), true],
    ['are not nine', after([3, 0], [3, 1_000], [3, 2_000]), false],
    ['are not ten of one chunk (V9)', after([10, 0]), false],
    ['are not ten of two chunks', after([5, 0], [5, 2_000]), false],
    ['are not ten within two seconds', after([4, 0], [3, 1_000], [3, 1_999]), false],
    ['are forgotten after ten minutes', after([8, 0], [1, 300_000], [1, 600_001]), false],
    ['are remembered for ten minutes', after([8, 0], [1, 300_000], [1, 600_000]), true],
    ['are none at the start', NO_STREAK, false],
  ])('%s', (_name, streak, expected) => {
    expect(isRun(streak)).toBe(expected);
  });

  it('are of different recipients', () => {
    const streak = Array.from({ length: 30 }).reduce<Streak>(
      (sum, _, chunk) => extended(sum, people(0, 9), chunk, T0 + chunk * 1_000),
      NO_STREAK,
    );

    expect(isRun(streak)).toBe(false);
  });

  it('may come again in the same recipients, which makes the run longer in time', () => {
    const first = after([10, 0]);
    const streak = [1, 2].reduce<Streak>((sum, chunk) => extended(sum, people(0, 10), chunk, T0 + chunk * 60_000), first);

    expect(isRun(streak)).toBe(true);
  });

  it('are never fewer than ten, three chunks and two seconds, whatever came', () => {
    const chunk = fc.record({ of: fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 12 }), apart: fc.nat(3_000) });
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 20 }), (chunks) => {
        let now = T0;
        let streak: Streak = NO_STREAK;
        for (const [i, { of, apart }] of chunks.entries()) {
          now += apart;
          streak = extended(
            streak,
            of.map((n) => `r-${n}`),
            i,
            now,
          );
        }
        if (!isRun(streak)) return;
        const told = chunks.filter(({ of }) => of.length > 0);
        expect(new Set(told.flatMap(({ of }) => of)).size).toBeGreaterThanOrEqual(10);
        expect(told.length).toBeGreaterThanOrEqual(3);
        expect(now - T0).toBeGreaterThanOrEqual(2_000);
      }),
    );
  });
});

describe('lost answers', () => {
  const losses = (...each: readonly (readonly [atMs: number, calls: number, lost: number])[]): readonly Losses[] =>
    each.reduce<readonly Losses[]>((sum, [atMs, calls, lost]) => recentLosses(sum, { at: T0 + atMs, calls, lost }), []);

  it.each<[string, readonly Losses[], boolean]>([
    ['are heavy from twenty on, if they are a fifth of the calls (V30)', losses([0, 50, 10], [1_000, 50, 10]), true],
    ['are not heavy below twenty', losses([0, 10, 10], [1_000, 9, 9]), false],
    ['are not heavy below a fifth', losses([0, 101, 20]), false],
    ['of more than a minute ago no longer matter', losses([0, 20, 19], [60_000, 1, 1]), false],
    ['of the last minute do', losses([0, 20, 19], [59_999, 1, 1]), true],
  ])('%s', (_name, given, expected) => {
    expect(areHeavy(given)).toBe(expected);
  });
});
