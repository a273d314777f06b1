import { describe, expect, it } from 'vitest';

import { createQuotaRoom } from '../../../../../../lambda/application/send/rate/quota-room.ts';
import type { Account } from '../../../../../../lambda/domain/sending/account.ts';
import { T0 } from '../../../../../support/clock.ts';

const NOW = T0 + 600_000;
const account = (sentLastDay: number, fetchedAt: number, rest: Partial<Account> = {}): Account => ({
  rate: 14,
  perDay: 1_000,
  sentLastDay,
  sendingEnabled: true,
  fetchedAt,
  ...rest,
});

describe('room in the quota of 24 hours since a pause began', () => {
  it.each<[string, Account | undefined | 'unavailable', Account | undefined, boolean | undefined, number]>([
    ['is there by a current item', account(999, NOW - 60_000 + 1), undefined, true, 0],
    ['is not there by a current item', account(1_000, NOW - 1_000), undefined, false, 0],
    ['is asked for anew when the item is older, also without a sweeper (V32)', account(1_000, T0 + 1), account(10, NOW), true, 1],
    ['is told by an older item when SES does not answer', account(1_000, T0 + 1), undefined, false, 1],
    ['is not told by an item of before the pause', account(0, T0), undefined, undefined, 1],
    ['is not told when neither the table nor SES answers', 'unavailable', undefined, undefined, 1],
    ['is always there without a limit', account(5_000, NOW, { perDay: Infinity }), undefined, true, 0],
    ['is not there for an account that may not send', account(0, NOW, { sendingEnabled: false }), undefined, false, 0],
  ])('%s', async (_name, stored, fresh, expected, asks) => {
    let asked = 0;
    const room = createQuotaRoom({
      accounts: { read: () => Promise.resolve(stored) },
      refresh: () => {
        asked += 1;
        return Promise.resolve(fresh);
      },
      clock: () => NOW,
    });

    expect(await room.hasRoom(T0)).toBe(expected);
    expect(asked).toBe(asks);
  });
});
