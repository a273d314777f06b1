import { setTimeout as sleep } from 'node:timers/promises';

import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { encodeBatch } from '../../lambda/adapters/dynamo/client/codec.ts';
import { batchKey, contentKey, dispatchKey, OPEN, recipientKey } from '../../lambda/adapters/dynamo/client/keys.ts';
import { createSendingRepository } from '../../lambda/adapters/dynamo/control/sending-repository.ts';
import { createSweepStates } from '../../lambda/adapters/dynamo/control/sweep-states.ts';
import { createBatchRepository } from '../../lambda/adapters/dynamo/dispatch/batch-repository.ts';
import { createOpenDispatchRepository } from '../../lambda/adapters/dynamo/dispatch/open-dispatch-repository.ts';
import { newRecipientItem, stateAttributes } from '../../lambda/adapters/dynamo/recipient/items.ts';
import { createUnclearLedger } from '../../lambda/adapters/dynamo/recipient/unclear-ledger.ts';
import type { BatchKey, SendQueue } from '../../lambda/application/ports/queues.ts';
import { createSweep } from '../../lambda/application/sweep/sweep.ts';
import { createExpandBatch } from '../../lambda/application/tasks/expand-batch.ts';
import { shardOf } from '../../lambda/domain/dispatch/shards.ts';
import type { Recipient, RecipientKey } from '../../lambda/domain/recipient/recipient.ts';
import { toIso } from '../../lambda/domain/shared/instant.ts';
import { rowCounts } from '../support/builders.ts';
import { createFakeFeedback } from '../support/fake-feedback.ts';
import { createFakeObjects } from '../support/fake-objects.ts';
import { startTable, type TestTable } from '../support/table.ts';

const CREATED = Date.parse('2026-03-01T12:00:00.000Z');
const MINUTE = 60_000;
const LATER = CREATED + 30 * MINUTE;

let table: TestTable;
beforeAll(async () => {
  table = await startTable();
});
afterAll(async () => {
  await table.stop();
});

const put = (Item: Record<string, unknown>) => table.client.send(new PutCommand({ TableName: table.tableName, Item }));
const get = async (Key: { pk: string; sk: string }) =>
  (await table.client.send(new GetCommand({ TableName: table.tableName, Key, ConsistentRead: true }))).Item;

const putDispatch = async (dispatchId: string, total: number, more: Record<string, unknown> = {}) => {
  await put({
    ...dispatchKey(dispatchId),
    dispatchId,
    adminId: 'admin-1',
    scenarioId: 'interview',
    recruitId: '7',
    total,
    shards: 2,
    isTest: false,
    status: 'ACCEPTED',
    generation: 0,
    createdAt: toIso(CREATED),
    createdKey: `${toIso(CREATED)}#${dispatchId}`,
    openKey: OPEN,
    ...more,
  });
  await put({ ...contentKey(dispatchId), data: new Uint8Array([1]) });
};

const keyOf = (dispatchId: string, applyId: string): RecipientKey => ({ dispatchId, applyId, shard: shardOf(applyId, 2) });

const putRecipient = (dispatchId: string, applyId: string, recipient: Recipient) =>
  put({
    ...recipientKey(keyOf(dispatchId, applyId)),
    ...newRecipientItem('a@example.com', {}, CREATED),
    ...stateAttributes(recipient),
  });

const sent: Recipient = { status: 'SENT', round: 1, attemptCount: 1, messageId: 'm', sentAt: CREATED };
const pending: Recipient = { status: 'PENDING', round: 1, attemptCount: 0, nextAttemptAt: CREATED };
const abandoned: Recipient = {
  status: 'PROCESSING',
  round: 1,
  attemptCount: 1,
  lease: { token: 'dead', until: CREATED + 5 * MINUTE },
};

describe('expanding a batch', () => {
  const recipientInputs = Array.from({ length: 60 }, (_, i) => ({
    applyId: `지원-${i}`,
    email: `a${i}@example.com`,
    variables: { n: i, deep: [null, 1e300] },
  }));
  const objects = createFakeObjects();
  const expand = () => {
    const { client, tableName } = table;
    const batches = createBatchRepository({ client, tableName, objects, random: Math.random, sleep });
    return createExpandBatch(batches, () => LATER)({ dispatchId: 'exp', batch: 0 }, () => true);
  };

  it('makes a pending recipient of each entry and removes the batch', async () => {
    await putDispatch('exp', 60);
    const object = await objects.begin('exp').put('0', await encodeBatch(recipientInputs));
    await put({ ...batchKey('exp', 0), object, count: 60 });
    await putRecipient('exp', '지원-3', sent);

    expect(await expand()).toBe('expanded');

    expect(await get(batchKey('exp', 0))).toBeUndefined();
    expect(await get(recipientKey(keyOf('exp', '지원-59')))).toMatchObject({
      status: 'PENDING',
      round: 1,
      attemptCount: 0,
      attempts: [],
      email: 'a59@example.com',
      variables: '{"n":59,"deep":[null,1e+300]}',
    });
  });

  it('leaves alone a recipient that was sent already', async () => {
    expect(await get(recipientKey(keyOf('exp', '지원-3')))).toMatchObject({ status: 'SENT', messageId: 'm' });
  });

  it('does nothing for a batch that is gone', async () => {
    expect(await expand()).toBe('already-expanded');
  });
});

describe('the sweeper', () => {
  const run = async (now: number, depth = 0, atStart = false) => {
    const enqueued: RecipientKey[] = [];
    const expanded: BatchKey[] = [];
    const sendQueue: SendQueue = {
      send: (messages) => {
        enqueued.push(...messages.map(({ key }) => key));
        return Promise.resolve(messages.map(() => true));
      },
      hide: () => Promise.resolve(),
      depth: () => Promise.resolve(depth),
    };
    const sweep = createSweep({
      dispatches: createOpenDispatchRepository({
        client: table.client,
        tableName: table.tableName,
        openIndex: 'open',
        retentionDays: 30,
      }),
      sendQueue,
      taskQueue: {
        expand: (batches) => {
          expanded.push(...batches);
          return Promise.resolve(batches.map(() => true));
        },
        enqueueTasks: (tasks) => Promise.resolve(tasks.map(() => true)),
      },
      sending: createSendingRepository(table.client, table.tableName),
      sweeps: createSweepStates(table.client, table.tableName),
      feedback: createFakeFeedback(),
      ledger: createUnclearLedger(table.client, table.tableName),
      clock: () => now,
      stuckAfterMs: 10 * MINUTE,
      revisitMs: 15 * MINUTE,
    });
    const report = await sweep({ atStart, remainingMs: () => 240_000 });
    const of = (dispatchId: string) => enqueued.filter((key) => key.dispatchId === dispatchId).map(({ applyId }) => applyId);
    return { report, of, expanded: expanded.filter(({ dispatchId }) => dispatchId !== 'exp') };
  };

  it('puts nothing back for a dispatch that it sees for the first time', async () => {
    await putDispatch('stuck', 3);
    await putRecipient('stuck', 'a', pending);
    await putRecipient('stuck', 'b', abandoned);
    await putRecipient('stuck', 'c', sent);

    expect((await run(LATER)).of('stuck')).toEqual([]);
  });

  it('looks at the rows no more often than every quarter of an hour', async () => {
    expect((await run(LATER + 14 * MINUTE)).of('stuck')).toEqual([]);
  });

  it('puts back what is overdue once nothing of the dispatch has moved, the longest overdue first (O5)', async () => {
    expect((await run(LATER + 15 * MINUTE)).of('stuck')).toEqual(['a', 'b']);
  });

  it('puts nothing back while the dispatch moves', async () => {
    await putRecipient('stuck', 'b', sent);

    expect((await run(LATER + 31 * MINUTE)).of('stuck')).toEqual([]);
  });

  it('ignores how long nothing moved when the stack has just started', async () => {
    expect((await run(LATER + 32 * MINUTE, 0, true)).of('stuck')).toEqual(['a']);
  });

  it('puts back no more than ten when the queue seems to hold everything', async () => {
    await putDispatch('waiting', 30, {
      counts: { PENDING: 30, PROCESSING: 0, SENT: 0, FAILED: 0, UNKNOWN: 0, CANCELLED: 0 },
      lastProgressAt: toIso(CREATED),
    });
    for (let i = 0; i < 30; i += 1) await putRecipient('waiting', `w${i}`, pending);

    expect((await run(LATER, 1_000)).of('waiting')).toHaveLength(10);
  });

  it('completes a dispatch of which every recipient is final', async () => {
    await putDispatch('done', 2);
    await putRecipient('done', 'a', sent);
    await putRecipient('done', 'b', { status: 'FAILED', round: 1, attemptCount: 1, lastErrorCode: 'X', failedAt: CREATED });

    await run(LATER);

    const item = await get(dispatchKey('done'));
    expect(item).toMatchObject({
      status: 'COMPLETED',
      outcome: 'partly-sent',
      completedAt: toIso(LATER),
      counts: { SENT: 1, FAILED: 1 },
    });
    expect(item).toMatchObject({ openKey: OPEN });
    expect(await get(contentKey('done'))).toMatchObject({ expiresAt: LATER / 1000 + 30 * 86_400 });
  });

  it('closes it once its end is ten minutes ago, and looks at it no more', async () => {
    await run(LATER + 9 * MINUTE);
    expect(await get(dispatchKey('done'))).toMatchObject({ openKey: OPEN });

    await run(LATER + 10 * MINUTE);
    expect(await get(dispatchKey('done'))).toMatchObject({ openKey: 'ATTENTION', sweptAt: toIso(LATER + 10 * MINUTE) });
  });

  it('does not complete one that still has a batch, though all rows are final (Q9)', async () => {
    await putDispatch('batches', 1);
    await putRecipient('batches', 'a', sent);
    await put({ ...batchKey('batches', 3), object: 'batches/3', count: 0 });

    await run(LATER);

    expect(await get(dispatchKey('batches'))).toMatchObject({ status: 'ACCEPTED', openKey: OPEN });
  });

  it('sends the task of a left-over batch again', async () => {
    expect((await run(LATER + 20 * MINUTE)).expanded).toMatchObject([{ dispatchId: 'batches', batch: 3 }]);
  });

  it('does not complete one with fewer rows than recipients', async () => {
    await putDispatch('short', 2);
    await putRecipient('short', 'a', sent);

    await run(LATER);

    expect(await get(dispatchKey('short'))).toMatchObject({ status: 'ACCEPTED' });
  });

  it('does not complete one that was reopened since it was read', async () => {
    await putDispatch('reopened', 1, { generation: 4 });
    const dispatches = createOpenDispatchRepository({
      client: table.client,
      tableName: table.tableName,
      openIndex: 'open',
      retentionDays: 30,
    });
    const read = (await Array.fromAsync(dispatches.open())).find(
      (each) => each !== 'unreadable' && each.dispatchId === 'reopened',
    );
    if (read === undefined || read === 'unreadable') throw new Error('not among the open ones');
    await putDispatch('reopened', 1, { generation: 5 });

    expect(await dispatches.complete(read, rowCounts({ SENT: 1 }), LATER)).toBe(false);
  });
});
