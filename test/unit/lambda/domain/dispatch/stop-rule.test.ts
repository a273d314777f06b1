import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  type Age,
  type BounceStatistics,
  exceededRate,
  failuresUntilStop,
  type FinalRows,
  isStale,
  type Stop,
  stopFor,
  untilRateExceeded,
} from '../../../../../lambda/domain/dispatch/stop-rule.ts';
import { T0 } from '../../../../support/clock.ts';

const rows = (refused: number, final: number, ...codes: string[]): FinalRows => ({
  final,
  refused,
  codes: new Set(codes),
  since: refused === 0 ? undefined : T0,
});

describe('a dispatch whose mails are refused', () => {
  const stopped = { reason: 'permanent-failures', faultSince: T0 } as const;

  it.each<[string, FinalRows, Stop | undefined]>([
    ['goes on after nine, though nothing else came of it', rows(9, 9, 'BAD_REQUEST'), undefined],
    ['is stopped after ten of ten, by their code (S10)', rows(10, 10, 'BAD_REQUEST'), { ...stopped, faultCode: 'BAD_REQUEST' }],
    ['is stopped by ten of nineteen', rows(10, 19, 'BAD_REQUEST'), { ...stopped, faultCode: 'BAD_REQUEST' }],
    ['goes on when no more than half were refused', rows(10, 20, 'BAD_REQUEST'), undefined],
    ['goes on when many were, but far more were sent', rows(400, 50_000, 'MESSAGE_REJECTED'), undefined],
    ['is stopped without a code when there are several', rows(11, 11, 'BAD_REQUEST', 'MESSAGE_REJECTED'), stopped],
    ['goes on when nothing is final', rows(0, 0), undefined],
  ])('%s', (_name, final, expected) => {
    expect(stopFor(final)).toEqual(expected);
  });
});

it.each([
  [9, 9],
  [10, 20],
  [10, 400],
  [400, 50_000],
  [0, 0],
])('after %i refused of %i the rows need not be counted before they can stop the dispatch', (refused, final) => {
  const more = failuresUntilStop(rows(refused, final));

  expect(stopFor(rows(refused + more, final + more))).toBeDefined();
  if (more > 1) expect(stopFor(rows(refused + more - 1, final + more - 1))).toBeUndefined();
});

describe('the bounce statistics of a dispatch', () => {
  it.each([
    [10, 0, 0, undefined],
    [10, 10, 0, undefined],
    [11, 11, 0, 'high-bounce-rate'],
    [109, 11, 0, 'high-bounce-rate'],
    [110, 11, 0, undefined],
    [50_000, 5_000, 0, undefined],
    [50_000, 5_001, 0, 'high-bounce-rate'],
    [5, 0, 5, undefined],
    [6, 0, 6, 'high-complaint-rate'],
    [1_199, 0, 6, 'high-complaint-rate'],
    [1_200, 0, 6, undefined],
    [50_000, 0, 250, undefined],
    [50_000, 0, 251, 'high-complaint-rate'],
    [100, 11, 6, 'high-bounce-rate'],
  ] as const)('of %i mails with %i permanent bounces and %i complaints exceed: %s', (sent, bounced, complained, expected) => {
    expect(exceededRate({ sent, bounced, complained })).toBe(expected);
  });

  it('need not be counted again before they can exceed a rate', () => {
    const statistics = fc.record<BounceStatistics>({
      sent: fc.integer({ min: 0, max: 50_000 }),
      bounced: fc.integer({ min: 0, max: 6_000 }),
      complained: fc.integer({ min: 0, max: 300 }),
    });
    fc.assert(
      fc.property(statistics, (now) => {
        const { bounced, complained } = untilRateExceeded(now);
        expect(exceededRate({ ...now, bounced: now.bounced + bounced })).toBe('high-bounce-rate');
        expect(exceededRate({ ...now, bounced: 0, complained: now.complained + complained })).toBe('high-complaint-rate');
        if (bounced > 1) expect(exceededRate({ ...now, complained: 0, bounced: now.bounced + bounced - 1 })).toBeUndefined();
        if (complained > 1)
          expect(exceededRate({ ...now, bounced: 0, complained: now.complained + complained - 1 })).toBeUndefined();
      }),
    );
  });
});

describe('old mail that comes up again', () => {
  const DAY = 24 * 3_600_000;
  const old: Age = { dueSince: T0, lastOutcomeAt: T0, lastTraceAt: T0 };

  it.each<[string, Age, number, boolean]>([
    ['is stale when all was still for more than a day (U8)', old, T0 + DAY + 1, true],
    ['is not after a day to the millisecond', old, T0 + DAY, false],
    ['is not when it came due within the day', { ...old, dueSince: T0 + 1 }, T0 + DAY + 1, false],
    ['is not when something became of a mail of it', { ...old, lastOutcomeAt: T0 + 1 }, T0 + DAY + 1, false],
    ['is not when the sweeper was there, or a pause stood', { ...old, lastTraceAt: T0 + 1 }, T0 + DAY + 1, false],
  ])('%s', (_name, age, now, expected) => {
    expect(isStale(age, now)).toBe(expected);
  });
});
