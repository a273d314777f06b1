import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { batchKey, recipientKey, taskKey } from '../../lambda/adapters/dynamo/client/keys.ts';
import { createDetailsRepository } from '../../lambda/adapters/dynamo/query/details-repository.ts';
import { createOpenList } from '../../lambda/adapters/dynamo/query/list-repository.ts';
import { newRecipientItem } from '../../lambda/adapters/dynamo/recipient/items.ts';
import { newTaskItem } from '../../lambda/adapters/dynamo/task/task-item.ts';
import type { DetailsRepository } from '../../lambda/application/ports/queries.ts';
import type { Dispatch } from '../../lambda/domain/dispatch/dispatch.ts';
import { toIso } from '../../lambda/domain/shared/instant.ts';
import { aDispatch, aKey } from '../support/builders.ts';
import { T0 } from '../support/clock.ts';
import { startTable, type TestTable } from '../support/table.ts';

let table: TestTable;
let client: DynamoDBDocumentClient;
let detailsRepository: DetailsRepository;

const put = (Item: Record<string, unknown>) => client.send(new PutCommand({ TableName: table.tableName, Item }));

beforeAll(async () => {
  table = await startTable();
  client = table.client;
  detailsRepository = createDetailsRepository(client, table.tableName, () => 0);
});
afterAll(async () => {
  await table.stop();
});

describe('in the table, the story of a dispatch', () => {
  it('has the tasks that are not done, and the batches that are not expanded', async () => {
    const task = newTaskItem({ kind: 'resume', requestedAt: T0, requestedBy: 'kim@example.com' });
    await put({ ...taskKey({ dispatchId: 'd1', task: 1 }), ...task, state: 'done' });
    await put({ ...taskKey({ dispatchId: 'd1', task: 2 }), ...task });
    for (const n of [0, 1, 2]) await put({ ...batchKey('d1', n), object: `d1/${n}`, count: 1 });

    expect(await detailsRepository.pendingTasks('d1')).toEqual([{ task: 2, kind: 'resume', requestedAt: T0 }]);
    expect(await detailsRepository.pendingBatches('d1')).toBe(3);
    expect([await detailsRepository.pendingTasks('d2'), await detailsRepository.pendingBatches('d2')]).toEqual([[], 0]);
  });
});

describe('in the table, the recipients of a dispatch to look into', () => {
  const row = (shard: number, applyId: string, more: object) =>
    put({ ...recipientKey({ dispatchId: 'd3', shard, applyId }), ...newRecipientItem('kim@example.com', {}, T0), ...more });

  it('are those that failed or are unknown, and those whose mail did not arrive', async () => {
    await row(0, 'a', { status: 'FAILED', lastErrorCode: 'MESSAGE_REJECTED', failedAt: toIso(T0) });
    await row(0, 'b', { status: 'SENT', sentAt: toIso(T0), delivery: 'delivered' });
    await row(0, 'c', { lastErrorCode: 'NOT_CONNECTED' });
    await row(2, 'd', { status: 'SENT', sentAt: toIso(T0), delivery: 'bounced', lastErrorCode: 'NOT_CONNECTED' });
    await row(2, 'e', { status: 'UNKNOWN', lastErrorCode: 'OUTCOME_UNCLEAR', failedAt: toIso(T0) });
    const found = [
      { applyId: 'a', status: 'FAILED', delivery: 'none', code: 'MESSAGE_REJECTED' },
      { applyId: 'd', status: 'SENT', delivery: 'bounced' },
      { applyId: 'e', status: 'UNKNOWN', delivery: 'none', code: 'OUTCOME_UNCLEAR' },
    ];

    expect(await detailsRepository.badRecipients({ dispatchId: 'd3', shards: 3 }, 10)).toEqual(found);
    expect(await detailsRepository.badRecipients({ dispatchId: 'd3', shards: 3 }, 2)).toEqual(found.slice(0, 2));
    expect(await detailsRepository.badRecipients({ dispatchId: 'd4', shards: 3 }, 2)).toEqual([]);
  });
});

describe('in the table, the story of a recipient', () => {
  it('has all but what the mail says', async () => {
    const item = newRecipientItem('kim@example.com', { name: 'Kim Lee' }, T0);
    const events = [{ kind: 'send', messageId: 'ses-1', at: toIso(T0) }];
    const sent = { status: 'SENT', messageId: 'ses-1', sentAt: toIso(T0), attemptCount: 1, leaseToken: 'x' };
    const attempts = [{ lease: 'x', startedAt: toIso(T0), outcome: 'sent', messageId: 'ses-1', ms: 12 }];
    await put({ ...recipientKey(aKey('a-1', 'd1')), ...item, ...sent, attempts, events, delivery: 'delivered' });

    const found = await detailsRepository.recipient(aKey('a-1', 'd1'));

    expect(found).toEqual({
      applyId: 'a-1',
      email: 'kim@example.com',
      recipient: { status: 'SENT', round: 1, attemptCount: 1, messageId: 'ses-1', sentAt: T0 },
      attempts: [{ round: 1, n: 1, lease: 'x', startedAt: T0, outcome: 'sent', messageId: 'ses-1', ms: 12 }],
      delivery: 'delivered',
      events: [{ kind: 'send', messageId: 'ses-1', at: T0 }],
    });
    expect(JSON.stringify(found)).not.toContain('Kim Lee');
  });

  it('is none when there is no row', async () => {
    expect(await detailsRepository.recipient(aKey('b', 'd1'))).toBeUndefined();
  });
});

describe('in the table, the list of those to look at', () => {
  it('has the open ones and then those that need attention, the newest first', async () => {
    const put1 = (
      dispatchId: string,
      openKey: string | undefined,
      createdAt: number,
      isTest = false,
      more: Partial<Dispatch> = {},
    ) => {
      const { createdAt: at, ...dispatch } = aDispatch({ dispatchId, createdAt, isTest, ...more });
      const createdKey = `${toIso(at)}#${dispatchId}`;
      return put({ pk: `DISPATCH#${dispatchId}`, sk: 'DISPATCH', ...dispatch, createdAt: toIso(at), openKey, createdKey });
    };
    await put1('open-1', 'OPEN', T0);
    await put1('open-2', 'OPEN', T0 + 1);
    await put1('test-1', 'OPEN', T0 - 1, true);
    await put1('short-1', 'ATTENTION', T0 + 2);
    // The sweeper has not closed these yet.
    await put1('over-1', 'OPEN', T0 + 4, false, { status: 'COMPLETED', needsAttention: false });
    await put1('over-2', 'OPEN', T0 + 5, false, { status: 'CANCELLED', needsAttention: false });
    await put1('over-and-short-1', 'OPEN', T0 - 2, false, { status: 'COMPLETED', needsAttention: true });
    await put1('done-1', undefined, T0 + 3);
    const list = createOpenList({ client, tableName: table.tableName, openIndex: 'open' });
    const idsOf = async (query: Partial<Parameters<typeof list.list>[0]> = {}) =>
      (await list.list({ limit: 10, ...query })).dispatches.map(({ dispatchId }) => dispatchId);

    expect(await idsOf()).toEqual(['open-2', 'open-1', 'test-1', 'over-and-short-1', 'short-1']);
    expect(await idsOf({ from: { part: 'attention' } })).toEqual(['short-1']);
    expect(await idsOf({ isTest: true })).toEqual(['test-1']);
    expect(await idsOf({ isTest: false })).not.toContain('test-1');
  });
});
