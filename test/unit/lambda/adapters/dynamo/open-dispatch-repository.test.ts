import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createOpenDispatchRepository } from '../../../../../lambda/adapters/dynamo/open-dispatch-repository.ts';
import { aDispatch, rowCounts, someCounts, someDeliveries } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';
import { documentClient } from '../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const repository = createOpenDispatchRepository({
  client: documentClient(),
  tableName: 'mail',
  openIndex: 'open',
  retentionDays: 180,
});

const keyOf = (dispatchId: string) => ({ pk: `DISPATCH#${dispatchId}`, sk: 'DISPATCH' });
const itemOf = (dispatchId: string) => ({ ...aDispatch({ dispatchId }), createdAt: '2026-03-02T09:00:00.000Z' });
const holds = (dispatchId: string, Item: Record<string, unknown>) =>
  dynamo.on(GetCommand, { TableName: 'mail', Key: keyOf(dispatchId), ConsistentRead: true }).resolves({ Item });

const openIds = async (): Promise<string[]> => {
  const ids: string[] = [];
  for await (const found of repository.open()) ids.push(found === 'unreadable' ? found : found.dispatchId);
  return ids;
};

beforeEach(() => {
  dynamo.reset();
});

describe('the open dispatches', () => {
  it('include one that cannot be read, and those after it', async () => {
    dynamo.on(QueryCommand).resolves({ Items: [keyOf('d1'), keyOf('d2')] });
    holds('d1', { openKey: 'OPEN', dispatchId: 7 });
    holds('d2', { ...itemOf('d2'), openKey: 'OPEN' });

    expect(await openIds()).toEqual(['unreadable', 'd2']);
  });

  it('go on after an empty page (U2)', async () => {
    const pageOf = (next: object | undefined, ...ids: string[]) => ({
      Items: ids.map(keyOf),
      ...(next && { LastEvaluatedKey: next }),
    });
    dynamo
      .on(QueryCommand)
      .resolvesOnce(pageOf({ pk: '1' }, 'd1'))
      .resolvesOnce(pageOf({ pk: '2' }))
      .resolvesOnce(pageOf(undefined, 'd2'));
    for (const id of ['d1', 'd2']) holds(id, { ...itemOf(id), openKey: 'OPEN' });

    expect(await openIds()).toEqual(['d1', 'd2']);
    expect(dynamo.commandCalls(QueryCommand).map(({ args }) => args[0].input.IndexName)).toEqual(['open', 'open', 'open']);
  });

  it('are those that their own items call open, since the index lags behind', async () => {
    dynamo.on(QueryCommand).resolves({ Items: ['gone', 'closed', 'd1'].map(keyOf) });
    dynamo.on(GetCommand).resolves({});
    holds('closed', { ...itemOf('closed'), status: 'COMPLETED' });
    holds('d1', { ...itemOf('d1'), openKey: 'OPEN' });

    expect(await openIds()).toEqual(['d1']);
  });
});

/** One of the mails that SES took went out before. */
const RESUMED_AT = Date.parse('2026-03-02T08:00:02.000Z');

describe('what is left of a dispatch', () => {
  it('is its batches, page after page, read consistently', async () => {
    dynamo
      .on(QueryCommand)
      .resolvesOnce({ Items: [], LastEvaluatedKey: { pk: '1' } })
      .resolvesOnce({ Items: [{ pk: 'DISPATCH#d1', sk: 'BATCH#0003' }] });

    expect(await repository.batches('d1')).toEqual([{ dispatchId: 'd1', batch: 3 }]);
    expect(dynamo.commandCalls(QueryCommand)[0]?.args[0].input).toMatchObject({
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': 'DISPATCH#d1', ':prefix': 'BATCH#' },
    });
  });

  it('is its tasks that are not done, page after page, read consistently', async () => {
    const task = (n: string, state?: string) => ({ pk: 'DISPATCH#d1', sk: `TASK#${n}`, ...(state !== undefined && { state }) });
    dynamo
      .on(QueryCommand)
      .resolvesOnce({ Items: [task('0001', 'done')], LastEvaluatedKey: { pk: '1' } })
      .resolvesOnce({ Items: [task('0002', 'open'), task('0003')] });

    expect(await repository.tasks('d1')).toEqual([
      { dispatchId: 'd1', task: 2 },
      { dispatchId: 'd1', task: 3 },
    ]);
    expect(dynamo.commandCalls(QueryCommand)[0]?.args[0].input).toMatchObject({
      ConsistentRead: true,
      ExpressionAttributeValues: { ':pk': 'DISPATCH#d1', ':prefix': 'TASK#' },
    });
  });

  it('is its rows of all shards, the longest overdue first', async () => {
    const row = (shard: number, applyId: string, status: string, dueAt: string, leaseUntil?: string, sentAt?: string) => ({
      pk: `DISPATCH#d1#${shard}`,
      sk: `RECIPIENT#${applyId}`,
      status,
      nextAttemptAt: dueAt,
      ...(leaseUntil !== undefined && { leaseUntil }),
      ...(sentAt !== undefined && { sentAt }),
    });
    dynamo
      .on(QueryCommand)
      .resolvesOnce({
        Items: [
          row(0, 'due', 'PENDING', '2026-03-02T08:50:00.000Z'),
          row(0, 'later', 'PENDING', '2026-03-02T09:00:00.001Z'),
          row(0, 'sent', 'SENT', '2026-03-02T08:00:00.000Z', '2026-03-02T08:05:00.000Z', '2026-03-02T08:00:01.000Z'),
        ],
        LastEvaluatedKey: { pk: '1' },
      })
      .resolvesOnce({ Items: [row(0, 'held', 'PROCESSING', '2026-03-02T08:00:00.000Z', '2026-03-02T09:00:00.001Z')] })
      .resolvesOnce({
        Items: [
          row(1, 'lost', 'PROCESSING', '2026-03-02T08:00:00.000Z', '2026-03-02T08:40:00.000Z'),
          row(1, 'now', 'PENDING', '2026-03-02T09:00:00.000Z'),
          {
            ...row(1, 'newest', 'SENT', '2026-03-02T08:00:00.000Z', '2026-03-02T08:05:00.000Z', '2026-03-02T08:00:02.000Z'),
            delivery: 'bounced',
          },
          { ...row(1, 'of no version', 'SENT', '2026-03-02T08:00:00.000Z'), sentAt: 'yesterday' },
        ],
      });

    expect(await repository.rows({ dispatchId: 'd1', shards: 2, resumedAt: RESUMED_AT }, T0)).toEqual({
      ...rowCounts({ PENDING: 3, PROCESSING: 2, SENT: 2 }, { bounced: 1 }),
      signs: { sent: 1, bounced: 1 },
      overdue: [
        {
          key: { dispatchId: 'd1', shard: 1, applyId: 'lost' },
          since: Date.parse('2026-03-02T08:40:00.000Z'),
          status: 'PROCESSING',
        },
        {
          key: { dispatchId: 'd1', shard: 0, applyId: 'due' },
          since: Date.parse('2026-03-02T08:50:00.000Z'),
          status: 'PENDING',
        },
        { key: { dispatchId: 'd1', shard: 1, applyId: 'now' }, since: T0, status: 'PENDING' },
      ],
      newestSentAt: Date.parse('2026-03-02T08:00:02.000Z'),
      newestOutcomeAt: Date.parse('2026-03-02T08:00:02.000Z'),
    });
    for (const { args } of dynamo.commandCalls(QueryCommand)) expect(args[0].input.ConsistentRead).toBe(true);
  });
});

it('a visit leaves when it was', async () => {
  dynamo.on(UpdateCommand).resolves({});

  await repository.mark('d1', T0);

  expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input).toMatchObject({
    Key: keyOf('d1'),
    UpdateExpression: 'SET #visitedAt = :visitedAt',
    ConditionExpression: '#openKey = :was_openKey',
    ExpressionAttributeValues: { ':visitedAt': '2026-03-02T09:00:00.000Z', ':was_openKey': 'OPEN' },
  });
});

it('marks nothing of a dispatch that was completed since it was read', async () => {
  dynamo.on(UpdateCommand).rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));

  await expect(repository.mark('d1', T0)).resolves.toBeUndefined();
});

describe('a recount', () => {
  const dispatch = aDispatch({ dispatchId: 'd1', total: 5, countedAt: T0 - 1_000 });
  const recount = () => repository.recount(dispatch, rowCounts({ SENT: 2, PENDING: 1 }, { bounced: 1 }), T0);

  it('stands on what progress had counted, and takes recipients in batches for pending', async () => {
    dynamo.on(UpdateCommand).resolves({});

    expect(await recount()).toBe(true);
    expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input).toMatchObject({
      Key: keyOf('d1'),
      UpdateExpression: 'SET #counts = :counts, #deliveries = :deliveries, #lastProgressAt = :lastProgressAt',
      ConditionExpression: '#openKey = :was_openKey AND #status = :was_status AND #countedAt = :was_countedAt',
      ExpressionAttributeValues: {
        ':counts': someCounts({ SENT: 2, PENDING: 3 }),
        ':deliveries': someDeliveries({ bounced: 1 }),
        ':lastProgressAt': '2026-03-02T09:00:00.000Z',
        ':was_countedAt': '2026-03-02T08:59:59.000Z',
      },
    });
  });

  it('is dropped when progress counted meanwhile', async () => {
    dynamo.on(UpdateCommand).rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));

    expect(await recount()).toBe(false);
  });
});
