import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  adminKey,
  ATTENTION,
  contentKey,
  dispatchKey,
  OPEN,
  recipientKey,
  taskKey,
} from '../../lambda/adapters/dynamo/client/keys.ts';
import { createListRepository } from '../../lambda/adapters/dynamo/query/list-repository.ts';
import { createReadRepository } from '../../lambda/adapters/dynamo/query/read-repository.ts';
import { newRecipientItem, stateAttributes } from '../../lambda/adapters/dynamo/recipient/items.ts';
import { createRecipientRepository } from '../../lambda/adapters/dynamo/recipient/recipient-repository.ts';
import { createFindExport } from '../../lambda/adapters/dynamo/task/export-repository.ts';
import { createOperateRepository } from '../../lambda/adapters/dynamo/task/operate-repository.ts';
import { createTaskRepository } from '../../lambda/adapters/dynamo/task/task-repository.ts';
import { dispatchIdOf } from '../../lambda/adapters/hashing/dispatch-id.ts';
import { createSettleRecipient } from '../../lambda/application/commands/settle-recipient.ts';
import type { DispatchPage, DispatchQuery } from '../../lambda/application/ports/queries.ts';
import { createRunTask } from '../../lambda/application/tasks/run-task.ts';
import type { Dispatch } from '../../lambda/domain/dispatch/dispatch.ts';
import { shardOf } from '../../lambda/domain/dispatch/shards.ts';
import type { Recipient } from '../../lambda/domain/recipient/recipient.ts';
import { toIso } from '../../lambda/domain/shared/instant.ts';
import { aDispatch, sent, unknown } from '../support/builders.ts';
import { T0 } from '../support/clock.ts';
import { noBatches } from '../support/fake-objects.ts';
import { startTable, type TestTable } from '../support/table.ts';

let table: TestTable;
beforeAll(async () => {
  table = await startTable();
});
afterAll(async () => {
  await table.stop();
});

const put = (Item: Record<string, unknown>) => table.client.send(new PutCommand({ TableName: table.tableName, Item }));

const putDispatch = async (n: number, dispatch: Partial<Dispatch> = {}, openKey?: string): Promise<Dispatch> => {
  const adminId = dispatch.adminId ?? 'admin-1';
  const made = aDispatch({ adminId, createdAt: T0 + n * 1000, ...dispatch, dispatchId: dispatchIdOf(adminId, `${n}`) });
  const createdAt = toIso(made.createdAt);
  await put({
    ...dispatchKey(made.dispatchId),
    ...made,
    createdAt,
    adminKey: adminKey(adminId),
    createdKey: `${createdAt}#${made.dispatchId}`,
    ...(openKey !== undefined && { openKey }),
  });
  await put({ ...contentKey(made.dispatchId), data: new Uint8Array([1]) });
  return made;
};
const putRow = ({ dispatchId, shards }: Dispatch, applyId: string, recipient: Recipient) =>
  put({
    ...recipientKey({ dispatchId, shard: shardOf(applyId, shards), applyId }),
    ...newRecipientItem('kim@example.com', {}, T0),
    ...stateAttributes(recipient),
  });

const readAll = async (query: Omit<DispatchQuery, 'from' | 'limit'>, limit: number): Promise<string[]> => {
  const { client, tableName } = table;
  const lists = createListRepository({ client, tableName, byAdminIndex: 'by-admin', openIndex: 'open' });
  const ids: string[] = [];
  let from: DispatchPage['next'];
  do {
    const page: DispatchPage = await lists.list({ ...query, limit, ...(from && { from }) });
    ids.push(...page.dispatches.map(({ dispatchId }) => dispatchId));
    from = page.next;
  } while (from !== undefined);
  return ids;
};
const idsOf = (...dispatches: readonly Dispatch[]): string[] => dispatches.map(({ dispatchId }) => dispatchId);

describe('a list of dispatches', () => {
  it.each([1, 3, 20])('is one admin’s, newest first, whole over all pages of %d', async (limit) => {
    const adminId = `lister-${limit}`;
    const own = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => putDispatch(n, { adminId })));
    await putDispatch(7, { adminId: `${adminId}-other` });

    expect(await readAll({ of: { adminId }, isTest: false }, limit)).toEqual(idsOf(...own).toReversed());
  });

  it('is filtered, and keeps tests apart', async () => {
    const adminId = 'filterer';
    const plain = await putDispatch(1, { adminId, recruitId: '7', status: 'COMPLETED' });
    const stopped = await putDispatch(2, { adminId, recruitId: '7', status: 'STOPPED' });
    const other = await putDispatch(3, { adminId, recruitId: '8', status: 'STOPPED' });
    const test = await putDispatch(4, { adminId, recruitId: '7', isTest: true });
    const of = { adminId };

    expect(await readAll({ of, isTest: false }, 2)).toEqual(idsOf(other, stopped, plain));
    expect(await readAll({ of, isTest: true }, 2)).toEqual(idsOf(test));
    expect(await readAll({ of, isTest: false, recruitId: '7' }, 1)).toEqual(idsOf(stopped, plain));
    expect(await readAll({ of, isTest: false, recruitId: '7', status: 'STOPPED' }, 1)).toEqual(idsOf(stopped));
  });

  it('goes on over more than it looks at in one request', async () => {
    const adminId = 'busy';
    const old = await putDispatch(0, { adminId, recruitId: 'needle' });
    await Promise.all(Array.from({ length: 130 }, (_, i) => putDispatch(i + 1, { adminId })));

    expect(await readAll({ of: { adminId }, isTest: false, recruitId: 'needle' }, 5)).toEqual(idsOf(old));
  });

  it.each([1, 20])(
    'of what somebody should look at has open ones first, then those that need attention: %d a page',
    async (limit) => {
      const recruitId = `look-${limit}`;
      const attention = await putDispatch(limit + 30, { recruitId, status: 'COMPLETED', needsAttention: true }, ATTENTION);
      const open = await putDispatch(limit + 31, { recruitId, adminId: 'admin-2' }, OPEN);
      const stopped = await putDispatch(limit + 32, { recruitId, status: 'STOPPED' }, OPEN);
      await putDispatch(limit + 33, { recruitId, status: 'COMPLETED' });

      expect(await readAll({ of: 'open', isTest: false, recruitId }, limit)).toEqual(idsOf(stopped, open, attention));
    },
  );
});

describe('a recipient that is settled by hand', () => {
  it('is stored with who, when and why, and its dispatch is counted anew', async () => {
    const dispatch = await putDispatch(90, { status: 'COMPLETED', generation: 4 }, ATTENTION);
    await putRow(dispatch, 'a', unknown());
    const { client, tableName } = table;
    const settle = createSettleRecipient({
      dispatches: createOperateRepository(client, tableName),
      recipients: createRecipientRepository({
        client,
        tableName,
        retentionDays: 30,
        clock: () => T0,
        random: Math.random,
        sleep,
      }),
      clock: () => T0 + 5,
    });

    const person = { adminId: 'admin-1', isOperator: false };
    expect(await settle(person, dispatch.dispatchId, ['a'], { as: 'sent', note: 'heard' })).toMatchObject({ outcome: 'settled' });

    const key = { dispatchId: dispatch.dispatchId, shard: shardOf('a', dispatch.shards), applyId: 'a' };
    expect(await createReadRepository(client, tableName, () => T0).recipient(key)).toMatchObject({
      recipient: { status: 'SENT', sentAt: T0 + 5 },
      settled: { as: 'sent', who: 'admin-1', at: T0 + 5, note: 'heard' },
    });
    const { Item } = await client.send(new GetCommand({ TableName: tableName, Key: dispatchKey(dispatch.dispatchId) }));
    expect(Item).toMatchObject({ openKey: OPEN, generation: 5 });
  });
});

describe('the content of a dispatch', () => {
  it('counts as gone from the moment it expires, though it is still there', async () => {
    const { dispatchId } = await putDispatch(95);
    const repository = createOperateRepository(table.client, table.tableName);
    await put({ ...contentKey(dispatchId), data: new Uint8Array([1]), expiresAt: T0 / 1000 });

    expect(await repository.hasContent(dispatchId, T0 - 1)).toBe(true);
    expect(await repository.hasContent(dispatchId, T0)).toBe(false);
    expect(await repository.hasContent('nobody', T0)).toBe(false);
  });
});

describe('an export', () => {
  it('takes its parts from the task, and is found by its number', async () => {
    const dispatch = await putDispatch(99, { shards: 12, total: 40 });
    for (let i = 0; i < 40; i += 1) await putRow(dispatch, `a-${i}`, i % 4 === 0 ? unknown() : sent());
    const { client, tableName } = table;
    const key = { dispatchId: dispatch.dispatchId, task: 1 };
    await createOperateRepository(client, tableName).start({ dispatch, tasks: 0 }, dispatch, {
      kind: 'export',
      requestedAt: T0,
      requestedBy: 'admin-1',
      statuses: ['SENT'],
    });
    const parts = new Map<string, readonly string[]>();
    const files: string[] = [];
    const enqueueTasks = createRunTask({
      ...noBatches,
      tasks: createTaskRepository(client, tableName, () => T0),
      recipients: createRecipientRepository({
        client,
        tableName,
        retentionDays: 30,
        clock: () => T0,
        random: Math.random,
        sleep,
      }),
      sendQueue: { send: () => Promise.resolve([]), hide: () => Promise.resolve(), depth: () => Promise.resolve(0) },
      exports: {
        putPart: (_key, part, rows) =>
          Promise.resolve(
            void parts.set(
              part,
              rows.map(({ applyId }) => applyId),
            ),
          ),
        finish: (_key, names) => Promise.resolve(void files.push(...names.flatMap((name) => parts.get(name) ?? []))),
      },
      clock: () => T0 + 7,
      newId: randomUUID,
      sleep,
    });
    const find = createFindExport(client, tableName);
    const times = [60_000, 0];

    expect(await enqueueTasks(key, () => times.shift() ?? 60_000)).toMatchObject({ outcome: 'more' });
    const before = await find(key);
    expect(before).not.toHaveProperty('doneAt');
    expect(await enqueueTasks(key, () => 60_000)).toMatchObject({ outcome: 'done' });

    expect(files.toSorted()).toEqual(
      Array.from({ length: 40 }, (_, i) => i)
        .filter((i) => i % 4 !== 0)
        .map((i) => `a-${i}`)
        .toSorted(),
    );
    expect(await find(key)).toEqual({ requestedAt: T0, written: 30, doneAt: T0 + 7, statuses: ['SENT'] });
    expect(await find({ ...key, task: 2 })).toBeUndefined();
    const { Item } = await client.send(new GetCommand({ TableName: tableName, Key: taskKey(key) }));
    expect(Item).toMatchObject({ state: 'done' });
  });
});
