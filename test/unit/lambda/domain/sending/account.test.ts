import { describe, expect, it } from 'vitest';

import { isOutdated, needsRefresh, quotaOf, sendRateOf, usedShareOf } from '../../../../../lambda/domain/sending/account.ts';
import { anAccount } from '../../../../support/account-builders.ts';
import { T0 } from '../../../../support/clock.ts';

const MINUTE = 60_000;

describe('the account item', () => {
  it.each([
    [6 * MINUTE, false, false],
    [6 * MINUTE + 1, true, false],
    [15 * MINUTE, true, false],
    [15 * MINUTE + 1, true, true],
  ])('%i ms old: a sender reads it %s, it is outdated %s', (age, refresh, outdated) => {
    expect(needsRefresh(anAccount(), T0 + age)).toBe(refresh);
    expect(isOutdated(anAccount(), T0 + age)).toBe(outdated);
  });

  it('that is missing is outdated', () => {
    expect(isOutdated(undefined, T0)).toBe(true);
  });

  it.each([
    ['what SES says', anAccount({ rate: 14 }), 0, 14],
    ['the setting if that is less', anAccount({ rate: 14 }), 5, 5],
    ['what SES says if the setting is more', anAccount({ rate: 14 }), 500, 14],
    ['one a second where SES says less', anAccount({ rate: 0 }), 0, 1],
    ['the setting before SES has answered', undefined, 5, 5],
    ['one a second before SES has answered and without a setting', undefined, 0, 1],
  ])('gives as the rate %s', (_name, account, maxSendRate, expected) => {
    expect(sendRateOf(account, maxSendRate)).toBe(expected);
  });

  it('still gives its rate when it is outdated, but nothing to promise a date from', () => {
    const limits = { maxSendRate: 0, rateShare: 0.9 };

    expect(quotaOf(anAccount(), limits, T0 + 15 * MINUTE)).toEqual({
      maxSendRate: 14,
      rateShare: 0.9,
      perDay: 50_000,
      sentLastDay: 1_200,
    });
    expect(quotaOf(anAccount(), limits, T0 + 15 * MINUTE + 1)).toBeUndefined();
  });

  it('promises no more than the setting allows', () => {
    expect(quotaOf(anAccount(), { maxSendRate: 5, rateShare: 0.4 }, T0)).toMatchObject({ maxSendRate: 5, rateShare: 0.4 });
  });

  it.each([
    ['that is missing', undefined],
    ['that may not send', anAccount({ sendingEnabled: false })],
    ['without a rate', anAccount({ rate: 0 })],
    ['without a quota', anAccount({ perDay: 0 })],
  ])('%s promises nothing', (_name, account) => {
    expect(quotaOf(account, { maxSendRate: 14, rateShare: 0.9 }, T0)).toBeUndefined();
  });

  it.each([
    [anAccount({ perDay: 50_000, sentLastDay: 40_000 }), 0.8],
    [anAccount({ perDay: 200, sentLastDay: 0 }), 0],
    [anAccount({ perDay: Infinity }), undefined],
    [anAccount({ perDay: 0 }), undefined],
  ])('tells the used share of the quota', (account, share) => {
    expect(usedShareOf(account)).toBe(share);
  });
});
