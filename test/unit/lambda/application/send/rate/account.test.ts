import { describe, expect, it } from 'vitest';

import { createAccountQuota } from '../../../../../../lambda/application/accept/account-quota.ts';
import { createInspectAccount } from '../../../../../../lambda/application/send/rate/inspect-account.ts';
import { createRefreshAccount } from '../../../../../../lambda/application/send/rate/refresh-account.ts';
import { createSendRate } from '../../../../../../lambda/application/send/rate/send-rate.ts';
import type { Account } from '../../../../../../lambda/domain/sending/account.ts';
import {
  anAccount,
  createFakeAccounts,
  createFakeAccountSource,
  createFakeBudget,
} from '../../../../../support/account-builders.ts';
import { createFakeClock, T0 } from '../../../../../support/clock.ts';

const MINUTE = 60_000;

const world = (stored?: Account) => {
  const clock = createFakeClock();
  const budget = createFakeBudget(clock.now);
  const accounts = createFakeAccounts(stored);
  const source = createFakeAccountSource(clock.now);
  const observed: unknown[] = [];
  const observe = (result: unknown) => observed.push(result);
  const refresh = createRefreshAccount({ budget, accounts, source, clock: clock.now, sleep: clock.sleep, observe });
  return { clock, budget, accounts, source, observed, refresh };
};

describe('reading the account', () => {
  it('stores what SES says, with the time at which the call began', async () => {
    const { refresh, accounts } = world();

    expect(await refresh()).toEqual(anAccount());
    expect(accounts.stored).toEqual(anAccount({ fetchedAt: T0 }));
  });

  it('waits for its slot', async () => {
    const { refresh, budget, source } = world();
    for (let i = 0; i < 11; i += 1) await budget.book('known-template', `t-${i}`);

    await refresh();

    expect(source.askedAt).toEqual([T0 + 11_000]);
  });

  it('does not call in a slot that it slept through', async () => {
    const { clock, budget, accounts, source, observed } = world();
    const sleep = () => {
      clock.advance(1_000);
      return Promise.resolve();
    };

    const refresh = createRefreshAccount({
      budget,
      accounts,
      source,
      clock: clock.now,
      sleep,
      observe: (result) => observed.push(result),
    });

    expect(await refresh()).toBeUndefined();
    expect(source.askedAt).toEqual([]);
  });

  it('keeps the old item when SES does not answer, and throws nothing', async () => {
    const old = anAccount({ fetchedAt: T0 - 20 * MINUTE });
    const { refresh, accounts, source, observed } = world(old);
    source.answer = () => Promise.reject(new Error('throttled'));

    expect(await refresh()).toBeUndefined();
    expect(accounts.stored).toBe(old);
    expect(observed).toEqual([{ error: new Error('throttled') }]);
  });

  it('throws nothing when the table does not answer', async () => {
    const { refresh, budget } = world();
    budget.book = () => Promise.reject(new Error('no answer'));

    expect(await refresh()).toBeUndefined();
  });
});

describe('the sweeper’s look at the account', () => {
  const inspect = (of: ReturnType<typeof world>) =>
    createInspectAccount({ refresh: of.refresh, accounts: of.accounts, clock: of.clock.now })();

  it('renews an item of any age', async () => {
    const of = world(anAccount({ fetchedAt: T0 - 1_000, rate: 1 }));

    expect(await inspect(of)).toEqual({ fetched: anAccount(), isOutdated: false });
    expect(of.accounts.stored?.rate).toBe(14);
  });

  it.each<[string, Account | undefined, boolean]>([
    ['15 minutes old', anAccount({ fetchedAt: T0 - 15 * MINUTE }), false],
    ['older than that', anAccount({ fetchedAt: T0 - 15 * MINUTE - 1 }), true],
    ['not there', undefined, true],
  ])('without an answer of SES and with an item that is %s: outdated %s', async (_name, stored, isOutdated) => {
    const of = world(stored);
    of.source.answer = () => Promise.reject(new Error('throttled'));

    expect(await inspect(of)).toEqual({ fetched: undefined, isOutdated });
  });

  it('says nothing when the table does not answer', async () => {
    const of = world();
    of.source.answer = () => Promise.reject(new Error('throttled'));
    of.accounts.outage = true;

    expect(await inspect(of)).toEqual({ fetched: undefined, isOutdated: undefined });
  });
});

describe('a sender’s rate', () => {
  const rateOf = (of: ReturnType<typeof world>, maxSendRate = 0) =>
    createSendRate({
      accounts: of.accounts,
      refresh: of.refresh,
      maxSendRate,
      clock: of.clock.now,
      sleep: () => new Promise<never>(() => undefined),
    });

  it('comes from the item, read every ten seconds; SES is not asked', async () => {
    const of = world(anAccount({ rate: 50 }));
    const rate = rateOf(of);

    expect(await rate()).toEqual({ perSecond: 50, isGuess: false });
    of.clock.advance(9_999);
    await rate();
    expect(of.accounts.reads).toBe(1);
    of.accounts.stored = anAccount({ rate: 14, fetchedAt: T0 + 1 });
    of.clock.advance(1);
    expect(await rate()).toEqual({ perSecond: 14, isGuess: false });
    expect(of.source.askedAt).toEqual([]);
  });

  it('without an item is asked for by one of a hundred senders that start at once (V8)', async () => {
    const of = world();
    const senders = Array.from({ length: 100 }, () => rateOf(of));

    const first = await Promise.all(senders.map((rate) => rate()));
    expect(of.source.askedAt).toEqual([T0]);
    expect(first.filter(({ isGuess }) => !isGuess).length).toBeGreaterThanOrEqual(1);

    of.clock.advance(1_000);
    const next = await Promise.all(senders.map((rate) => rate()));
    expect(next).toEqual(senders.map(() => ({ perSecond: 14, isGuess: false })));
    expect(of.source.askedAt).toHaveLength(1);
  });

  it.each([
    [0, 1],
    [80, 80],
  ])('is a guess while SES does not answer: with maxSendRate %d it is %d', async (maxSendRate, perSecond) => {
    const of = world();
    of.source.answer = () => Promise.reject(new Error('throttled'));

    expect(await rateOf(of, maxSendRate)()).toEqual({ perSecond, isGuess: true });
  });

  it('of an item older than six minutes is used while a sender renews it', async () => {
    const of = world(anAccount({ rate: 50, fetchedAt: T0 - 6 * MINUTE - 1 }));
    const rate = rateOf(of);

    expect(await rate()).toEqual({ perSecond: 50, isGuess: false });
    await new Promise((done) => setImmediate(done));
    expect(of.accounts.stored?.fetchedAt).toBe(T0);
    expect(await rate()).toEqual({ perSecond: 14, isGuess: false });
  });

  it('of an outdated item is used as long as SES does not answer', async () => {
    const of = world(anAccount({ rate: 50, fetchedAt: T0 - 60 * MINUTE }));
    of.source.answer = () => Promise.reject(new Error('throttled'));

    expect(await rateOf(of)()).toEqual({ perSecond: 50, isGuess: false });
  });

  it('stays what it was while the table does not answer', async () => {
    const of = world(anAccount({ rate: 50 }));
    const rate = rateOf(of);
    await rate();
    of.accounts.outage = true;
    of.clock.advance(MINUTE);

    expect(await rate()).toEqual({ perSecond: 50, isGuess: false });
  });
});

describe('what an estimate knows of the account', () => {
  const quotaOf = (of: ReturnType<typeof world>) =>
    createAccountQuota({ accounts: of.accounts, maxSendRate: 0, rateShare: 0.9, clock: of.clock.now });

  it('is the item, read every five seconds; SES is never asked', async () => {
    const of = world(anAccount());
    const quota = quotaOf(of);

    await Promise.all(Array.from({ length: 20 }, () => quota()));
    of.clock.advance(4_999);
    expect(await quota()).toEqual({ maxSendRate: 14, rateShare: 0.9, perDay: 50_000, sentLastDay: 1_200 });
    expect(of.accounts.reads).toBe(1);
    of.clock.advance(1);
    await quota();
    expect(of.accounts.reads).toBe(2);
    expect(of.source.askedAt).toEqual([]);
  });

  it.each(['read', 'throw'] as const)('is nothing when the table does not answer (%s)', async (how) => {
    const of = world(anAccount());
    if (how === 'read') of.accounts.outage = true;
    else of.accounts.read = () => Promise.reject(new Error('AccessDenied'));

    expect(await quotaOf(of)()).toBeUndefined();
  });
});
