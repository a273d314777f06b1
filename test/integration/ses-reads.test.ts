import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { controlKey } from '../../lambda/adapters/dynamo/client/keys.ts';
import { createAccountRepository } from '../../lambda/adapters/dynamo/control/account-repository.ts';
import { createSesReadBudget } from '../../lambda/adapters/dynamo/control/ses-read-budget.ts';
import { anAccount } from '../support/account-builders.ts';
import { T0 } from '../support/clock.ts';
import { startTable, type TestTable } from '../support/table.ts';

let table: TestTable;
beforeAll(async () => {
  table = await startTable();
});
afterAll(async () => {
  await table.stop();
});

const item = async (name: 'ACCOUNT' | 'SES_READS') =>
  (await table.client.send(new GetCommand({ TableName: table.tableName, Key: controlKey(name), ConsistentRead: true }))).Item;

describe('the budget of reads in the table', () => {
  const onUnreadable = (): void => undefined;
  const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms / 10));
  const budgetAt = (now: number) =>
    createSesReadBudget({
      client: table.client,
      tableName: table.tableName,
      clock: () => now,
      random: Math.random,
      sleep,
      onUnreadable,
    });

  it('gives each of many callers at once a slot of its own', async () => {
    const booked = await Promise.all(Array.from({ length: 6 }, (_, i) => budgetAt(T0).book('known-template', `t-${i}`)));

    const slots = booked.flatMap((slot) => (slot.isBooked ? [slot.at - T0] : []));
    expect(slots.toSorted((a, b) => a - b)).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000]);
    expect(await item('SES_READS')).toMatchObject({ nextCallAt: '2026-03-02T09:00:06.000Z' });
  });

  it('counts the templates that are active', async () => {
    expect(await budgetAt(T0 + 6_000).book('known-template', 't-6')).toMatchObject({ at: T0 + 6_000, freshSeconds: 7 });
  });

  it('lets one of twenty ask for the account', async () => {
    const booked = await Promise.all(Array.from({ length: 20 }, () => budgetAt(T0 + 60_000).book('account')));

    expect(booked.filter(({ isBooked }) => isBooked)).toHaveLength(1);
  });

  it('keeps what a slot of another kind does not change', async () => {
    await budgetAt(T0 + 120_000).book('unknown-template');

    expect(await budgetAt(T0 + 121_000).book('unknown-template')).toEqual({ isBooked: false, retryAt: T0 + 125_000 });
    expect(await item('SES_READS')).toMatchObject({ nextAccountAt: '2026-03-02T09:01:05.000Z' });
  });
});

describe('the account item in the table', () => {
  const accounts = () => createAccountRepository(table.client, table.tableName);

  it('is missing before SES was read', async () => {
    expect(await accounts().read()).toBeUndefined();
  });

  it('gives back what was stored', async () => {
    await accounts().store(anAccount());

    expect(await accounts().read()).toEqual(anAccount());
    expect(await item('ACCOUNT')).toMatchObject({
      rate: 14,
      quota: 50_000,
      sent: 1_200,
      sendingEnabled: true,
      fetchedAt: '2026-03-02T09:00:00.000Z',
    });
  });

  it('gives way to a later answer, and not to an earlier one', async () => {
    await accounts().store(anAccount({ rate: 50, perDay: Infinity, fetchedAt: T0 + 2_000 }));
    await accounts().store(anAccount({ rate: 1, fetchedAt: T0 + 1_000 }));

    expect(await accounts().read()).toEqual(anAccount({ rate: 50, perDay: Infinity, fetchedAt: T0 + 2_000 }));
  });
});
