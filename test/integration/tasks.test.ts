import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { contentKey, dispatchKey, OPEN, recipientKey, taskKey } from '../../lambda/adapters/dynamo/client/keys.ts';
import { createReadRepository } from '../../lambda/adapters/dynamo/query/read-repository.ts';
import { newRecipientItem, stateAttributes } from '../../lambda/adapters/dynamo/recipient/items.ts';
import { createRecipientRepository } from '../../lambda/adapters/dynamo/recipient/recipient-repository.ts';
import { createOperateRepository } from '../../lambda/adapters/dynamo/task/operate-repository.ts';
import { createTaskRepository } from '../../lambda/adapters/dynamo/task/task-repository.ts';
import { createOperateDispatch } from '../../lambda/application/commands/operate-dispatch.ts';
import { createRunTask } from '../../lambda/application/tasks/run-task.ts';
import { checkCommand, type Command } from '../../lambda/domain/dispatch/command.ts';
import type { DispatchStatus } from '../../lambda/domain/dispatch/dispatch.ts';
import { shardOf } from '../../lambda/domain/dispatch/shards.ts';
import type { Recipient, RecipientKey } from '../../lambda/domain/recipient/recipient.ts';
import { toIso } from '../../lambda/domain/shared/instant.ts';
import { noBatches } from '../support/fake-objects.ts';
import { startTable, type TestTable } from '../support/table.ts';

const CREATED = Date.parse('2026-03-01T12:00:00.000Z');
const NOW = CREATED + 60_000;
const SHARDS = 3;
const OWNER = { adminId: 'admin-1', isOperator: false };

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

const putDispatch = async (dispatchId: string, status: DispatchStatus, more: Record<string, unknown> = {}) => {
  await put({
    ...dispatchKey(dispatchId),
    dispatchId,
    adminId: 'admin-1',
    scenarioId: 'interview',
    recruitId: '7',
    total: 1_000,
    shards: SHARDS,
    isTest: false,
    status,
    generation: 2,
    createdAt: toIso(CREATED),
    createdKey: `${toIso(CREATED)}#${dispatchId}`,
    openKey: OPEN,
    ...more,
  });
  await put({ ...contentKey(dispatchId), data: new Uint8Array([1]) });
};

const keyOf = (dispatchId: string, applyId: string): RecipientKey => ({
  dispatchId,
  applyId,
  shard: shardOf(applyId, SHARDS),
});
const putRow = (dispatchId: string, applyId: string, recipient: Recipient) =>
  put({
    ...recipientKey(keyOf(dispatchId, applyId)),
    ...newRecipientItem('a@example.com', {}, CREATED),
    ...stateAttributes(recipient),
  });
const row = (dispatchId: string, applyId: string) => get(recipientKey(keyOf(dispatchId, applyId)));

const pending: Recipient = { status: 'PENDING', round: 1, attemptCount: 0, nextAttemptAt: CREATED };
const sent: Recipient = { status: 'SENT', round: 1, attemptCount: 1, messageId: 'm', sentAt: CREATED };
const failed = (failedAt: number, lastErrorCode = 'INVALID_PARAMETER'): Recipient => ({
  status: 'FAILED',
  round: 1,
  attemptCount: 1,
  lastErrorCode,
  failedAt,
});

const operate = (operation: Command, dispatchId: string) =>
  createOperateDispatch({
    dispatches: createOperateRepository(table.client, table.tableName),
    rows: createReadRepository(table.client, table.tableName, () => 0),
    clock: () => NOW,
    random: Math.random,
    sleep,
  })(OWNER, operation, dispatchId);

const worker = () => {
  const queued: RecipientKey[] = [];
  const enqueueTasks = createRunTask({
    ...noBatches,
    tasks: createTaskRepository(table.client, table.tableName, () => 0),
    recipients: createRecipientRepository({
      client: table.client,
      tableName: table.tableName,
      retentionDays: 30,
      clock: () => 0,
      random: Math.random,
      sleep,
    }),
    sendQueue: {
      send: (messages) => {
        queued.push(...messages.map(({ key }) => key));
        return Promise.resolve(messages.map(() => true));
      },
      hide: () => Promise.resolve(),
      depth: () => Promise.resolve(0),
    },
    exports: { putPart: () => Promise.resolve(), finish: () => Promise.resolve() },
    clock: () => NOW + 1,
    newId: randomUUID,
    sleep,
  });
  return { queued, run: (dispatchId: string, ms = () => 60_000) => enqueueTasks({ dispatchId, task: 1 }, ms) };
};

describe('what the table lets a person do is what the rule permits', () => {
  const STATUSES: readonly DispatchStatus[] = ['ACCEPTED', 'IN_PROGRESS', 'STOPPED', 'COMPLETED', 'CANCELLED'];
  const CASES = STATUSES.flatMap((status) => (['cancel', 'resume'] as const).map((operation) => [operation, status] as const));

  it.each(CASES)('%s while %s', async (operation, status) => {
    const dispatchId = `rule-${operation}-${status}`;
    await putDispatch(dispatchId, status);

    const { outcome } = await operate(operation, dispatchId);

    const permitted = checkCommand(operation, status);
    expect(outcome).toBe(permitted === 'go-ahead' || permitted === 'done-already' ? 'accepted' : 'refused');
    expect((await get(taskKey({ dispatchId, task: 1 }))) !== undefined).toBe(permitted === 'go-ahead');
    expect((await get(dispatchKey(dispatchId)))?.['generation']).toBe(permitted === 'go-ahead' ? 3 : 2);
  });

  it('and of several who cancel at once each is answered the same, by one task', async () => {
    await putDispatch('at-once', 'IN_PROGRESS');

    const results = await Promise.all(Array.from({ length: 5 }, () => operate('cancel', 'at-once')));

    expect(results).toMatchObject(Array.from({ length: 5 }, () => ({ outcome: 'accepted', task: 1 })));
    expect(results.filter((result) => result.outcome === 'accepted' && result.isNew)).toHaveLength(1);
    expect(await get(taskKey({ dispatchId: 'at-once', task: 2 }))).toBeUndefined();
  });
});

describe('a dispatch', () => {
  it('that is resumed keeps nothing of why it was stopped', async () => {
    await putDispatch('stopped', 'STOPPED', {
      failureReason: 'permanent-failures',
      faultCode: 'INVALID_PARAMETER',
      faultSince: toIso(CREATED),
      stoppedAt: toIso(CREATED),
      refusedCount: 12,
    });

    await operate('resume', 'stopped');

    const item = await get(dispatchKey('stopped'));
    expect(item).toMatchObject({
      status: 'IN_PROGRESS',
      generation: 3,
      refusedCount: 0,
      resumedAt: toIso(NOW),
      lastProgressAt: toIso(NOW),
      openKey: OPEN,
    });
    for (const name of ['failureReason', 'faultCode', 'faultSince', 'stoppedAt']) expect(item).not.toHaveProperty(name);
    expect(await get(taskKey({ dispatchId: 'stopped', task: 1 }))).toMatchObject({
      kind: 'resume',
      state: 'open',
      requestedAt: toIso(NOW),
      requestedBy: 'admin-1',
      faultCode: 'INVALID_PARAMETER',
      faultSince: toIso(CREATED),
    });
  });

  it('that is cancelled stays open while some row may be under way', async () => {
    await putDispatch('cancelled', 'IN_PROGRESS');

    await operate('cancel', 'cancelled');

    expect(await get(dispatchKey('cancelled'))).toMatchObject({
      status: 'CANCELLED',
      cancelledAt: toIso(NOW),
      openKey: OPEN,
      tasks: 1,
    });
  });
});

describe('a task', () => {
  it('of a cancelled dispatch cancels every waiting row of every shard', async () => {
    await putDispatch('many', 'IN_PROGRESS');
    const ids = Array.from({ length: 60 }, (_, i) => `지원-${i}`);
    for (const id of ids) await putRow('many', id, id === '지원-7' ? sent : pending);
    await operate('cancel', 'many');

    expect(await worker().run('many')).toMatchObject({ outcome: 'done', cancelled: 59 });

    expect((await row('many', '지원-7'))?.['status']).toBe('SENT');
    expect(await row('many', '지원-59')).toMatchObject({ status: 'CANCELLED', cancelledAt: toIso(NOW + 1) });
    expect(await get(taskKey({ dispatchId: 'many', task: 1 }))).toMatchObject({ state: 'done' });
    expect((await worker().run('many')).outcome).toBe('nothing-left');
  });

  it('goes on in another worker where time ran out', async () => {
    await putDispatch('later', 'IN_PROGRESS');
    for (let i = 0; i < 12; i += 1) await putRow('later', `a-${i}`, pending);
    await operate('cancel', 'later');
    const remaining = [60_000, 1_000];

    const first = await worker().run('later', () => remaining.shift() ?? 0);
    const second = await worker().run('later');

    expect([first.outcome, second.outcome]).toEqual(['more', 'done']);
    expect(first.cancelled + second.cancelled).toBe(12);
  });

  it('is done once, though two workers are at it', async () => {
    await putDispatch('twice', 'IN_PROGRESS');
    for (let i = 0; i < 30; i += 1) await putRow('twice', `a-${i}`, pending);
    await operate('cancel', 'twice');

    const reports = await Promise.all([worker().run('twice'), worker().run('twice')]);

    expect(reports.map(({ outcome }) => outcome)).toContain('done');
    expect(reports.reduce((sum, { cancelled }) => sum + cancelled, 0)).toBe(30);
  });

  it('of a resumed dispatch reopens those that failed by the fault, and sends for those that wait (S10)', async () => {
    await putDispatch('resumed', 'STOPPED', { faultCode: 'INVALID_PARAMETER', faultSince: toIso(CREATED + 10) });
    await putRow('resumed', 'by-fault', failed(CREATED + 10));
    await putRow('resumed', 'before', failed(CREATED + 9));
    await putRow('resumed', 'anew', failed(NOW + 1));
    await putRow('resumed', 'other', failed(CREATED + 10, 'MESSAGE_REJECTED'));
    await putRow('resumed', 'waits', pending);
    await operate('resume', 'resumed');
    const { run, queued } = worker();

    expect(await run('resumed')).toMatchObject({ outcome: 'done', reopened: 1, enqueued: 1 });

    expect(queued).toEqual([keyOf('resumed', 'waits')]);
    expect(await row('resumed', 'by-fault')).toMatchObject({ status: 'PENDING', round: 2, attemptCount: 0 });
    for (const id of ['before', 'anew', 'other']) expect((await row('resumed', id))?.['status']).toBe('FAILED');
  });
});
