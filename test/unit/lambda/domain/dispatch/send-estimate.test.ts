import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type AccountQuota, estimateSending } from '../../../../../lambda/domain/dispatch/send-estimate.ts';
import { T0 } from '../../../../support/clock.ts';

const DAY = 86_400_000;
const quota = (more: Partial<AccountQuota> = {}): AccountQuota => ({
  maxSendRate: 10,
  rateShare: 0.9,
  perDay: 1_000,
  sentLastDay: 0,
  ...more,
});

describe('an estimate', () => {
  it('goes by the service’s share of the account’s rate', () => {
    expect(estimateSending(quota(), 0, 90, T0)).toEqual({ mailsPerSecond: 9, doneAt: T0 + 10_000, waitingForNextWindow: 0 });
    expect(estimateSending(quota({ rateShare: 0.3 }), 0, 90, T0)).toMatchObject({ mailsPerSecond: 3, doneAt: T0 + 30_000 });
  });

  it.each([
    [4, 4],
    [9, 9],
    [1_000, 9],
  ])('of senders that can send %d mails a second promises %d', (ceiling, mailsPerSecond) => {
    expect(estimateSending(quota({ ceiling }), 0, 90, T0).mailsPerSecond).toBe(mailsPerSecond);
  });

  it('lets those go first that wait already', () => {
    expect(estimateSending(quota(), 180, 90, T0)).toMatchObject({ doneAt: T0 + 30_000, waitingForNextWindow: 0 });
  });

  it.each<[string, Partial<AccountQuota>, number, number, number]>([
    ['exactly as many as are left', { sentLastDay: 900 }, 0, 100, 0],
    ['one more than are left', { sentLastDay: 900 }, 0, 101, 1],
    ['more than are left after those who wait', { sentLastDay: 900 }, 60, 100, 60],
    ['none left', { sentLastDay: 1_200 }, 0, 100, 100],
    ['so many waiting that none is left', {}, 5_000, 100, 100],
    ['no limit', { perDay: Infinity }, 5_000, 50_000, 0],
  ])('tells how many wait for the next window: %s', (_name, more, waiting, total, expected) => {
    expect(estimateSending(quota(more), waiting, total, T0).waitingForNextWindow).toBe(expected);
  });

  it('counts each window that is waited for as a day', () => {
    expect(estimateSending(quota(), 0, 1_090, T0).doneAt).toBe(T0 + DAY + 10_000);
    expect(estimateSending(quota(), 0, 2_090, T0).doneAt).toBe(T0 + 2 * DAY + 10_000);
  });

  it('never lets more of a dispatch wait than it has, and is never done before all could be sent', () => {
    const amounts = fc.nat({ max: 100_000 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 1, max: 100_000 }),
        amounts,
        amounts,
        fc.integer({ min: 1, max: 50_000 }),
        (maxSendRate, perDay, sentLastDay, waiting, total) => {
          const estimate = estimateSending({ maxSendRate, rateShare: 0.9, perDay, sentLastDay }, waiting, total, T0);
          const days = Math.ceil((estimate.doneAt - T0) / DAY);

          expect(estimate.waitingForNextWindow).toBeGreaterThanOrEqual(0);
          expect(estimate.waitingForNextWindow).toBeLessThanOrEqual(total);
          expect(days * perDay + Math.max(0, perDay - sentLastDay)).toBeGreaterThanOrEqual(waiting + total);
        },
      ),
    );
  });
});
