import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ATTENTION, dispatchKey, OPEN } from '../../lambda/adapters/dynamo/client/keys.ts';
import { createProgressRepository } from '../../lambda/adapters/dynamo/dispatch/progress-repository.ts';
import { newTaskItem } from '../../lambda/adapters/dynamo/task/task-item.ts';
import type { DispatchStatus } from '../../lambda/domain/dispatch/dispatch.ts';
import { toIso } from '../../lambda/domain/shared/instant.ts';
import { aDispatch, rowCounts } from '../support/builders.ts';
import { createFakeClock, T0 } from '../support/clock.ts';
import { startTable, type TestTable } from '../support/table.ts';

let table: TestTable;
beforeAll(async () => {
  table = await startTable();
});
afterAll(async () => {
  await table.stop();
});

const repository = () =>
  createProgressRepository({
    client: table.client,
    tableName: table.tableName,
    retentionDays: 30,
    random: Math.random,
    sleep: createFakeClock().sleep,
  });
const get = async (dispatchId: string) => {
  const { tableName: TableName, client } = table;
  return (await client.send(new GetCommand({ TableName, Key: dispatchKey(dispatchId), ConsistentRead: true }))).Item;
};
const put = async (dispatchId: string, status: DispatchStatus, more: Record<string, unknown> = {}) => {
  const counted = rowCounts({ PENDING: 2, PROCESSING: 1 }, { delayed: 1 });
  const item = { ...dispatchKey(dispatchId), ...aDispatch({ dispatchId, status }), createdAt: toIso(T0), createdKey: 'c' };
  await table.client.send(new PutCommand({ TableName: table.tableName, Item: { ...item, ...counted, ...more } }));
};
const DELTA = rowCounts({ PROCESSING: -2, SENT: 2 }, { delayed: -1, bounced: 1, 'soft-bounced': 2 });

describe('what progress counts', () => {
  it.each<[DispatchStatus]>([['ACCEPTED'], ['IN_PROGRESS'], ['STOPPED'], ['CANCELLED']])(
    'is added to a dispatch that is %s',
    async (status) => {
      await put(`open-${status}`, status, { openKey: OPEN });

      const added = await repository().add(`open-${status}`, DELTA, T0 + 1);

      expect(added).toMatchObject({
        openRows: 1,
        dispatch: rowCounts({ PENDING: 2, SENT: 2 }, { bounced: 1, 'soft-bounced': 2 }),
      });
      expect(await get(`open-${status}`)).toMatchObject({
        status,
        counts: { PENDING: 2, PROCESSING: -1, SENT: 2 },
        deliveries: { delayed: 0, bounced: 1, 'soft-bounced': 2 },
        countedAt: toIso(T0 + 1),
        countsVersion: 1,
        lastProgressAt: toIso(T0 + 1),
        openKey: OPEN,
      });
    },
  );

  it.each<[DispatchStatus]>([['COMPLETED'], ['CANCELLED']])(
    'is, of a dispatch that is %s and was counted, its deliveries alone, and the sweeper looks at it again',
    async (status) => {
      await put(`ended-${status}`, status, { openKey: ATTENTION, needsAttention: true });

      expect(await repository().add(`ended-${status}`, DELTA, T0 + 1)).toBeUndefined();
      expect(await get(`ended-${status}`)).toMatchObject({
        counts: { PENDING: 2, PROCESSING: 1, SENT: 0 },
        deliveries: { delayed: 0, bounced: 1, 'soft-bounced': 2 },
        countedAt: toIso(T0 + 1),
        openKey: OPEN,
      });
    },
  );

  it('is nothing of a dispatch that was completed before deliveries were counted, but the sweeper looks at it again', async () => {
    await put('older', 'COMPLETED', { deliveries: undefined, needsAttention: false });

    expect(await repository().add('older', DELTA, T0 + 1)).toBeUndefined();
    const item = await get('older');
    expect(item).toMatchObject({ counts: { PENDING: 2, PROCESSING: 1, SENT: 0 }, openKey: OPEN });
    expect(item).not.toHaveProperty('deliveries');
  });

  it('begins at none for a state that the dispatch does not know yet', async () => {
    await put('new state', 'IN_PROGRESS', { counts: { PENDING: 2, PROCESSING: 2 }, deliveries: {} });

    expect(await repository().add('new state', rowCounts({ PROCESSING: -2, SENT: 2 }, { bounced: 1 }), T0 + 1)).toMatchObject({
      openRows: 2,
      dispatch: rowCounts({ PENDING: 2, SENT: 2 }, { bounced: 1 }),
    });
  });

  it('is dropped when the dispatch has no counts, or is gone', async () => {
    await put('uncounted', 'IN_PROGRESS', { deliveries: undefined });

    expect(await repository().add('uncounted', DELTA, T0)).toBeUndefined();
    expect(await repository().add('gone', DELTA, T0)).toBeUndefined();
    expect(await get('uncounted')).not.toHaveProperty('countedAt');
    expect(await get('gone')).toBeUndefined();
  });

  it('adds up however many count at once', async () => {
    await put('together', 'IN_PROGRESS');

    await Promise.all(Array.from({ length: 20 }, () => repository().add('together', rowCounts({ PENDING: -1, SENT: 1 }), T0)));

    // Twenty at the same millisecond are twenty versions.
    expect(await get('together')).toMatchObject({ counts: { PENDING: -18, PROCESSING: 1, SENT: 20 }, countsVersion: 20 });
  });
});

describe('a dispatch', () => {
  it('begins if it was accepted, and not if it was stopped', async () => {
    await put('accepted', 'ACCEPTED');
    await put('stopped', 'STOPPED');

    await repository().begin('accepted');
    await repository().begin('stopped');

    expect([(await get('accepted'))?.['status'], (await get('stopped'))?.['status']]).toEqual(['IN_PROGRESS', 'STOPPED']);
  });

  it('is being reopened while a retry of it is not done', async () => {
    const task = {
      pk: 'DISPATCH#retried',
      sk: 'TASK#0001',
      ...newTaskItem({ kind: 'retry', requestedAt: T0, requestedBy: 'a' }),
    };
    await table.client.send(new PutCommand({ TableName: table.tableName, Item: task }));
    expect(await repository().isReopening('retried')).toBe(true);

    await table.client.send(new PutCommand({ TableName: table.tableName, Item: { ...task, state: 'done' } }));
    expect(await repository().isReopening('retried')).toBe(false);
  });
});
