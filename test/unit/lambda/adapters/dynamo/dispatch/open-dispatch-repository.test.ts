import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createOpenDispatchRepository } from '../../../../../../lambda/adapters/dynamo/dispatch/open-dispatch-repository.ts';
import { aDispatch, rowCounts, someCounts, someDeliveries } from '../../../../../support/builders.ts';
import { T0 } from '../../../../../support/clock.ts';
import { documentClient } from '../../../../../support/dynamo.ts';

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

  it('tell what the last visit saw of them, and how many tasks were begun since', async () => {
    const marks = { sweptGeneration: 3, sweptTasks: 1, tasks: 2 };
    dynamo.on(QueryCommand).resolves({ Items: [keyOf('d1')] });
    holds('d1', { ...itemOf('d1'), openKey: 'OPEN', sweptAt: '2026-03-02T09:00:00.000Z', ...marks });

    expect(await Array.fromAsync(repository.open())).toEqual([{ ...aDispatch({ dispatchId: 'd1' }), sweptAt: T0, ...marks }]);
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
      .resolvesOnce({ Items: [{ pk: 'DISPATCH#d1', sk: 'BATCH#0003', count: 40 }] });

    expect(await repository.batches('d1')).toEqual([{ dispatchId: 'd1', batch: 3, count: 40 }]);
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

  it('is its rows of all shards, and since when the longest overdue wait', async () => {
    const row = (shard: number, applyId: string, status: string, dueAt: string, leaseUntil?: string, sentAt?: string) => ({
      pk: `DISPATCH#d1#${shard}`,
      sk: `RECIPIENT#${applyId}`,
      status,
      nextAttemptAt: dueAt,
      ...(leaseUntil !== undefined && { leaseUntil }),
      ...(sentAt !== undefined && { sentAt, messageId: 'ses-1' }),
    });
    const ofShard = (shard: number) => ({
      ExpressionAttributeValues: { ':pk': `DISPATCH#d1#${shard}`, ':recipient': 'RECIPIENT#' },
    });
    dynamo
      .on(QueryCommand, ofShard(0))
      .resolvesOnce({
        Items: [
          row(0, 'due', 'PENDING', '2026-03-02T08:50:00.000Z'),
          row(0, 'later', 'PENDING', '2026-03-02T09:00:00.001Z'),
          row(0, 'sent', 'SENT', '2026-03-02T08:00:00.000Z', '2026-03-02T08:05:00.000Z', '2026-03-02T08:00:01.000Z'),
        ],
        LastEvaluatedKey: { pk: '1' },
      })
      .resolvesOnce({ Items: [row(0, 'held', 'PROCESSING', '2026-03-02T08:00:00.000Z', '2026-03-02T09:00:00.001Z')] });
    dynamo.on(QueryCommand, ofShard(1)).resolvesOnce({
      Items: [
        row(1, 'lost', 'PROCESSING', '2026-03-02T08:00:00.000Z', '2026-03-02T08:40:00.000Z'),
        row(1, 'now', 'PENDING', '2026-03-02T09:00:00.000Z'),
        {
          ...row(1, 'newest', 'SENT', '2026-03-02T08:00:00.000Z', '2026-03-02T08:05:00.000Z', '2026-03-02T08:00:02.000Z'),
          delivery: 'bounced',
        },
        // By a person's word.
        {
          ...row(1, 'settled', 'SENT', '2026-03-02T08:00:00.000Z'),
          sentAt: '2026-03-02T08:00:03.000Z',
        },
        { ...row(1, 'of no version', 'SENT', '2026-03-02T08:00:00.000Z'), sentAt: 'yesterday' },
      ],
    });

    expect(
      await repository.rows({ dispatchId: 'd1', createdAt: T0 - 3_600_000, shards: 2, resumedAt: RESUMED_AT }, T0, () => true),
    ).toEqual({
      ...rowCounts({ PENDING: 3, PROCESSING: 2, SENT: 3 }, { bounced: 1 }),
      bounceStatistics: { sent: 2, bounced: 1, complained: 0 },
      overdueSince: { PENDING: Date.parse('2026-03-02T08:50:00.000Z'), PROCESSING: Date.parse('2026-03-02T08:40:00.000Z') },
      newestSentAt: Date.parse('2026-03-02T08:00:02.000Z'),
      newestOutcomeAt: Date.parse('2026-03-02T08:00:03.000Z'),
    });
    for (const { args } of dynamo.commandCalls(QueryCommand)) expect(args[0].input.ConsistentRead).toBe(true);
  });

  it('is not read on once there is no time', async () => {
    dynamo.on(QueryCommand).resolves({ Items: [], LastEvaluatedKey: { pk: '1' } });
    let pages = 3;

    await expect(
      repository.rows({ dispatchId: 'd1', createdAt: T0 - 3_600_000, shards: 1 }, T0, () => pages-- > 0),
    ).rejects.toThrow('no time');
    expect(dynamo.commandCalls(QueryCommand)).toHaveLength(3);
  });

  it.each([
    [{ statisticsSince: RESUMED_AT }, 1],
    [{ statisticsSince: RESUMED_AT + 1, resumedAt: RESUMED_AT }, 0],
    [{ statisticsSince: RESUMED_AT - 1, resumedAt: RESUMED_AT + 1 }, 0],
    [{}, 1],
  ])('tells of mails since it was resumed or taken up again: %o', async (from, mails) => {
    const row = { pk: 'DISPATCH#d1#0', sk: 'RECIPIENT#a', status: 'SENT', nextAttemptAt: '2026-03-02T08:00:00.000Z' };
    const Items = ['bounced', 'complained', 'soft-bounced', 'suppressed'].map((delivery) => ({
      ...row,
      sentAt: '2026-03-02T08:00:02.000Z',
      delivery,
    }));
    dynamo.on(QueryCommand).resolves({ Items });

    const { bounceStatistics } = await repository.rows(
      { dispatchId: 'd1', createdAt: T0 - 3_600_000, shards: 1, ...from },
      T0,
      () => true,
    );

    expect(bounceStatistics).toEqual({ sent: 4 * mails, bounced: mails, complained: mails });
  });

  it('is looked for in eight shards at once', async () => {
    let [open, most] = [0, 0];
    dynamo.on(QueryCommand).callsFake(async () => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((done) => setImmediate(done));
      open -= 1;
      return { Items: [] };
    });

    await repository.rows({ dispatchId: 'd1', createdAt: T0 - 3_600_000, shards: 64 }, T0, () => true);

    expect(dynamo.commandCalls(QueryCommand)).toHaveLength(64);
    expect(most).toBe(8);
  });
});

it('a visit leaves when it was', async () => {
  dynamo.on(UpdateCommand).resolves({});

  await repository.mark(aDispatch({ dispatchId: 'd1', generation: 4 }), T0);

  expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input).toMatchObject({
    Key: keyOf('d1'),
    UpdateExpression: 'SET #sweptAt = :sweptAt, #sweptGeneration = :sweptGeneration REMOVE #sweptTasks',
    ConditionExpression: '#openKey = :was_openKey',
    ExpressionAttributeValues: { ':sweptAt': '2026-03-02T09:00:00.000Z', ':sweptGeneration': 4, ':was_openKey': 'OPEN' },
  });
});

it('marks nothing of a dispatch that was completed since it was read', async () => {
  dynamo.on(UpdateCommand).rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));

  await expect(repository.mark(aDispatch(), T0)).resolves.toBeUndefined();
});

describe('a recount', () => {
  const dispatch = aDispatch({ dispatchId: 'd1', total: 5, countsVersion: 7 });
  const recount = () => repository.recount(dispatch, rowCounts({ SENT: 2, PENDING: 1 }, { bounced: 1 }), T0);

  it('stands on what progress had counted, and takes recipients in batches for pending', async () => {
    dynamo.on(UpdateCommand).resolves({});

    expect(await recount()).toBe(true);
    expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input).toMatchObject({
      Key: keyOf('d1'),
      UpdateExpression: 'SET #counts = :counts, #deliveries = :deliveries, #lastProgressAt = :lastProgressAt',
      ConditionExpression: '#openKey = :was_openKey AND #status = :was_status AND #countsVersion = :was_countsVersion',
      ExpressionAttributeValues: {
        ':counts': someCounts({ SENT: 2, PENDING: 3 }),
        ':deliveries': someDeliveries({ bounced: 1 }),
        ':lastProgressAt': '2026-03-02T09:00:00.000Z',
        ':was_countsVersion': 7,
      },
    });
  });

  it('is dropped when progress counted meanwhile', async () => {
    dynamo.on(UpdateCommand).rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));

    expect(await recount()).toBe(false);
  });
});
