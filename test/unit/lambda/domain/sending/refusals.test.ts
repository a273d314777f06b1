import { describe, expect, it } from 'vitest';

import type { Attempt } from '../../../../../lambda/domain/recipient/attempt.ts';
import { dueAfterRefusal, isForeignFrom, previousRefusal } from '../../../../../lambda/domain/sending/refusals.ts';
import { anAttempt } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

const CODE = 'ACCESS_DENIED';
const refusal = (rest: Partial<Attempt> = {}): Attempt =>
  anAttempt({ lease: 'before', outcome: 'given-back', code: CODE, ...rest });
const refused = (...before: readonly Attempt[]) => ({
  attempts: [...before, anAttempt({ lease: 'ours' })],
  round: 1,
  lease: 'ours',
  code: CODE,
});

describe('the refusal before', () => {
  it.each<[string, readonly Attempt[], boolean]>([
    ['is one that was given back', [refusal()], true],
    ['is one that was counted', [refusal({ outcome: 'retry' })], true],
    ['is none of another code', [refusal({ code: 'ACCOUNT_SUSPENDED' })], false],
    ['is none of an earlier round', [refusal({ round: 0 })], false],
    ['is none that something else came after', [refusal(), anAttempt({ lease: 'later', outcome: 'unsent' })], false],
    ['is none at the first attempt', [], false],
  ])('%s', (_name, before, expected) => {
    expect(previousRefusal(refused(...before)) !== undefined).toBe(expected);
  });
});

describe('a refused recipient is due', () => {
  const policy = { baseSeconds: 60, capSeconds: 600 };
  const wait = (before: number, random = 0.5) =>
    (dueAfterRefusal(refused(...Array.from({ length: before }, (_, i) => refusal({ lease: `l-${i}` }))), policy, T0, random) -
      T0) /
    1000;

  it('about a minute later, and twice as long each time, up to the cap', () => {
    expect([0, 1, 2, 3, 4, 9].map((before) => wait(before))).toEqual([60, 120, 240, 480, 600, 600]);
  });

  it('not at the same time as the others', () => {
    expect([wait(0, 0), wait(0, 1)]).toEqual([45, 75]);
  });
});

describe('a refusal is about the From address of the mail', () => {
  it.each([
    ['that is no longer the configured one', 'FROM_IDENTITY_NOT_VERIFIED', 'Jobs <old@example.org>', true],
    ['without the right to send from it', 'ACCESS_DENIED', 'old@example.org', true],
    ['not if it is the configured one under another name', 'FROM_IDENTITY_NOT_VERIFIED', 'Team <Jobs@Example.org>', false],
    ['not if the account is paused', 'ACCOUNT_SENDING_PAUSED', 'old@example.org', false],
  ])('%s', (_name, code, from, expected) => {
    expect(isForeignFrom(code, from, 'Recruiting <jobs@example.org>')).toBe(expected);
  });
});
