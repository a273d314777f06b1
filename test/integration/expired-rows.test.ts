import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { contentKey, dispatchKey, OPEN, recipientKey } from '../../lambda/adapters/dynamo/client/keys.ts';
import { createOpenDispatchRepository } from '../../lambda/adapters/dynamo/dispatch/open-dispatch-repository.ts';
import { createReadRepository } from '../../lambda/adapters/dynamo/query/read-repository.ts';
import { newRecipientItem, stateAttributes } from '../../lambda/adapters/dynamo/recipient/items.ts';
import { createRecipientRepository } from '../../lambda/adapters/dynamo/recipient/recipient-repository.ts';
import type { OpenDispatchRepository } from '../../lambda/application/ports/progress.ts';
import type { RecipientRepository } from '../../lambda/application/ports/recipients.ts';
import { finishIfDone, inspectDispatch } from '../../lambda/application/progress/inspect-dispatch.ts';
import { createReadDispatch } from '../../lambda/application/queries/read-dispatch.ts';
import { type Dispatch, NO_COUNTS } from '../../lambda/domain/dispatch/dispatch.ts';
import type { Recipient, RecipientIn, RecipientKey } from '../../lambda/domain/recipient/recipient.ts';
import { toIso } from '../../lambda/domain/shared/instant.ts';
import { startTable, type TestTable } from '../support/table.ts';

const CREATED = Date.parse('2026-03-01T12:00:00.000Z');
const DAY = 86_400_000;
const RETENTION_DAYS = 30;
const LATE = CREATED + 29 * DAY;
const EXPIRED = CREATED + 31 * DAY;

let table: TestTable;
let dispatches: OpenDispatchRepository;
let recipients: RecipientRepository;
let n = 0;
let dispatchId = '';

beforeAll(async () => {
  table = await startTable();
  const deps = { client: table.client, tableName: table.tableName, retentionDays: RETENTION_DAYS, clock: () => CREATED };
  dispatches = createOpenDispatchRepository({ ...deps, openIndex: 'open' });
  recipients = createRecipientRepository({ ...deps, random: Math.random, sleep: () => Promise.resolve() });
});
afterAll(async () => {
  await table.stop();
});

const put = (Item: Record<string, unknown>) => table.client.send(new PutCommand({ TableName: table.tableName, Item }));
const keyOf = (applyId: string): RecipientKey => ({ dispatchId, applyId, shard: 0 });
const putRecipient = (applyId: string, recipient: Recipient) =>
  put({
    ...recipientKey(keyOf(applyId)),
    ...newRecipientItem('a@example.com', {}, CREATED),
    ...stateAttributes(recipient),
  });
/** What TTL does some time after a row's retention. */
const expire = (applyId: string) =>
  table.client.send(new DeleteCommand({ TableName: table.tableName, Key: recipientKey(keyOf(applyId)) }));

const read = async (): Promise<Dispatch> => {
  const found = await createReadRepository(table.client, table.tableName, () => CREATED).find(dispatchId);
  if (found === undefined) throw new Error('the dispatch is gone');
  return found;
};
/** Looks whether the dispatch is over, and ends it. */
const end = async (now: number) => {
  const dispatch = await read();
  return finishIfDone(dispatches, dispatch, await inspectDispatch(dispatches, dispatch, now), now);
};

const sent: Recipient = { status: 'SENT', round: 1, attemptCount: 1, messageId: 'm', sentAt: CREATED };
const failed: RecipientIn<'FAILED'> = { status: 'FAILED', round: 1, attemptCount: 1, lastErrorCode: 'X', failedAt: CREATED };

beforeEach(async () => {
  n += 1;
  dispatchId = `expired-${n}`;
  await put({
    ...dispatchKey(dispatchId),
    dispatchId,
    adminId: 'admin-1',
    scenarioId: 'interview',
    recruitId: '7',
    total: 4,
    shards: 1,
    isTest: false,
    status: 'IN_PROGRESS',
    generation: 0,
    createdAt: toIso(CREATED),
    createdKey: `${toIso(CREATED)}#${dispatchId}`,
    openKey: OPEN,
  });
  await put({ ...contentKey(dispatchId), data: new Uint8Array([1]) });
  await putRecipient('sent-1', sent);
  await putRecipient('sent-2', sent);
  await putRecipient('failed-1', failed);
  await putRecipient('failed-2', failed);
});

describe('a dispatch of which rows have expired', () => {
  it('is completed again after a retry of another row, with exact counts (V10)', async () => {
    expect(await end(CREATED + DAY)).toBe('completed');
    const reopened: Recipient = { status: 'PENDING', round: 2, attemptCount: 0, nextAttemptAt: LATE };
    expect(await recipients.reopen(keyOf('failed-1'), failed, reopened, 'COMPLETED')).toBe('written');
    await expire('sent-1');
    await expire('sent-2');

    // Its mail is on the way.
    expect(await end(EXPIRED)).toBeUndefined();
    const reader = { adminId: 'admin-1', isOperator: false };
    const now = await createReadDispatch(createReadRepository(table.client, table.tableName, () => CREATED)).dispatch(
      reader,
      dispatchId,
    );
    expect(now).toMatchObject({ dispatch: { status: 'IN_PROGRESS' } });

    await recipients.applyPatch(keyOf('failed-1'), (row) => ({ ...row, recipient: { ...sent, round: 2, sentAt: EXPIRED } }));

    expect(await end(EXPIRED)).toBe('completed');
    expect(await read()).toMatchObject({
      status: 'COMPLETED',
      outcome: 'partly-sent',
      counts: { ...NO_COUNTS, SENT: 3, FAILED: 1 },
    });
  });

  it('counts a row that changed by a late event once, as what it is now (V10)', async () => {
    expect(await end(CREATED + DAY)).toBe('completed');
    await recipients.applyPatch(keyOf('failed-2'), (row) => ({ ...row, recipient: { ...sent, sentAt: LATE } }));
    await expire('failed-1');

    const dispatch = await read();
    const { seen } = await inspectDispatch(dispatches, dispatch, EXPIRED);

    expect(seen.counts).toEqual({ ...NO_COUNTS, SENT: 3, FAILED: 1 });
  });

  it('waits for rows that are missing before their retention is over, as after a restore in the middle of a transaction', async () => {
    await expire('sent-1');

    expect(await end(LATE)).toBeUndefined();
    expect((await read()).status).toBe('IN_PROGRESS');
  });
});

it('a row that is reopened after its dispatch ended is left out of the counts of that end, one that changed before is not', async () => {
  const result: GetCommand['input'] = { TableName: table.tableName, Key: recipientKey(keyOf('failed-1')), ConsistentRead: true };
  await recipients.applyPatch(keyOf('failed-1'), (row) => ({ ...row, recipient: { ...sent, sentAt: CREATED } }));
  expect((await table.client.send(new GetCommand(result))).Item).not.toHaveProperty('reopenedAfter');

  expect(await end(CREATED + DAY)).toBe('completed');
  const reopened: Recipient = { status: 'PENDING', round: 2, attemptCount: 0, nextAttemptAt: LATE };
  expect(await recipients.reopen(keyOf('failed-2'), failed, reopened, 'COMPLETED')).toBe('written');

  const key = { ...result, Key: recipientKey(keyOf('failed-2')) };
  expect((await table.client.send(new GetCommand(key))).Item).toMatchObject({ reopenedAfter: 1 });
});
