import { describe, expect, it } from 'vitest';

import {
  type Age,
  areBad,
  bouncesUntilBad,
  failuresUntilStop,
  type FinalRows,
  isStale,
  type Stop,
  stopFor,
} from '../../../../lambda/domain/stop-rule.ts';
import { T0 } from '../../../support/clock.ts';

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

it.each([
  [10, 0, false],
  [10, 10, false],
  [11, 11, true],
  [109, 11, true],
  [110, 11, false],
  [50_000, 5_000, false],
  [50_000, 5_001, true],
])('of %i mails that SES took, %i bounces are a bad sign: %o', (sent, bounced, expected) => {
  expect(areBad({ sent, bounced })).toBe(expected);
});

it.each([
  [0, 0],
  [10, 10],
  [400, 20],
  [50_000, 4_000],
  [60, 11],
])('of %i mails with %i bounces the rows need not be counted before they can be a bad sign', (sent, bounced) => {
  const more = bouncesUntilBad({ sent, bounced });

  expect(areBad({ sent, bounced: bounced + more })).toBe(true);
  if (more > 1) expect(areBad({ sent, bounced: bounced + more - 1 })).toBe(false);
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
