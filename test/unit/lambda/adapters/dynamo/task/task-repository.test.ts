import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createTaskRepository } from '../../../../../../lambda/adapters/dynamo/task/task-repository.ts';
import type { OpenTask } from '../../../../../../lambda/application/ports/tasks.ts';
import { aDispatch, aKey, DISPATCH_ID, pending } from '../../../../../support/builders.ts';
import { T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const repository = () => createTaskRepository(documentClient(), 'mail', () => 0);
const AT = '2026-03-02T09:00:00.000Z';
const KEY = { dispatchId: DISPATCH_ID, task: 1 };
const task: OpenTask = { kind: 'cancel', requestedAt: T0, requestedBy: 'admin-1', cursor: { shard: 1 }, step: 's-1' };
const stored = { kind: 'cancel', requestedAt: AT, requestedBy: 'admin-1', state: 'open', cursor: { shard: 1 }, step: 's-1' };

beforeEach(() => {
  dynamo.reset();
});

describe('a task', () => {
  it('is read consistently', async () => {
    dynamo.on(GetCommand).resolves({ Item: stored });

    expect(await repository().find(KEY)).toEqual(task);
    expect(dynamo.commandCalls(GetCommand)[0]?.args[0].input).toMatchObject({
      Key: { pk: 'DISPATCH#d1spatch', sk: 'TASK#0001' },
      ConsistentRead: true,
    });
  });

  it.each([
    ['is done', { ...stored, state: 'done' }],
    ['is gone', undefined],
  ])('that %s is none', async (_name, Item) => {
    dynamo.on(GetCommand).resolves({ ...(Item && { Item }) });

    expect(await repository().find(KEY)).toBeUndefined();
  });

  it('of a kind nobody knows fails', async () => {
    dynamo.on(GetCommand).resolves({ Item: { ...stored, kind: 'erase' } });

    await expect(repository().find(KEY)).rejects.toThrow();
  });
});

describe('moving the cursor', () => {
  it('happens only where it was read', async () => {
    dynamo.on(UpdateCommand).resolves({});

    expect(await repository().advance(KEY, task, { shard: 1, after: 'a-9' }, 's-2')).toBe(true);
    expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input).toMatchObject({
      Key: { pk: 'DISPATCH#d1spatch', sk: 'TASK#0001' },
      UpdateExpression: 'SET #cursor = :cursor, #step = :step',
      ConditionExpression: '#state = :was_state AND #step = :was_step',
      ExpressionAttributeValues: {
        ':cursor': { shard: 1, after: 'a-9' },
        ':step': 's-2',
        ':was_state': 'open',
        ':was_step': 's-1',
      },
    });
  });

  it('for the first time happens only if nobody has moved it', async () => {
    dynamo.on(UpdateCommand).resolves({});
    const { kind, requestedAt, requestedBy } = task;

    await repository().advance(KEY, { kind, requestedAt, requestedBy }, { shard: 1 }, 's-1');

    expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input.ConditionExpression).toBe(
      '#state = :was_state AND attribute_not_exists(#step)',
    );
  });

  it('beyond the end ends the task', async () => {
    dynamo.on(UpdateCommand).resolves({});

    await repository().advance(KEY, task, undefined, 's-2');

    expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input).toMatchObject({
      UpdateExpression: 'SET #state = :state, #step = :step',
      ExpressionAttributeValues: { ':state': 'done' },
    });
  });

  it('beyond the end takes the note of a settled one away: it is in the rows', async () => {
    dynamo.on(UpdateCommand).resolves({});
    const word = { as: 'sent', note: 'asked by phone' } as const;

    await repository().advance(KEY, { ...task, kind: 'settle', word }, undefined, 's-2');

    expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input.UpdateExpression).toContain('REMOVE #word');
  });

  it.each([
    ['finds its own write when the SDK repeats it', 's-2', true],
    ['finds that another worker was faster', 's-other', false],
  ])('%s', async (_name, step, expected) => {
    dynamo.on(UpdateCommand).rejects(new ConditionalCheckFailedException({ message: 'failed', $metadata: {} }));
    dynamo.on(GetCommand).resolves({ Item: { ...stored, step } });

    expect(await repository().advance(KEY, task, undefined, 's-2')).toBe(expected);
  });

  it('fails when the table does not answer', async () => {
    dynamo.on(UpdateCommand).rejects(sdkError('TimeoutError'));

    await expect(repository().advance(KEY, task, undefined, 's-2')).rejects.toThrow();
  });
});

describe('rows', () => {
  const item = (applyId: string, more = {}) => ({
    pk: 'DISPATCH#d1spatch#1',
    sk: `RECIPIENT#${applyId}`,
    email: 'kim@example.com',
    variables: '{}',
    attempts: [],
    status: 'PENDING',
    round: 1,
    attemptCount: 0,
    nextAttemptAt: AT,
    ...more,
  });
  const read = (from: { shard: number; after?: string }) =>
    repository().rows(aDispatch({ shards: 3 }), ['PENDING', 'FAILED'], from);

  it('are those of a shard in the states asked for, 200 looked at a time', async () => {
    dynamo.on(QueryCommand).resolves({ Items: [item('a-1')] });

    expect((await read({ shard: 1, after: 'a-0' })).rows).toEqual([{ key: { ...aKey('a-1'), shard: 1 }, recipient: pending() }]);
    expect(dynamo.commandCalls(QueryCommand)[0]?.args[0].input).toMatchObject({
      ConsistentRead: true,
      Limit: 200,
      FilterExpression: '#status IN (:s0, :s1)',
      ExpressionAttributeValues: { ':pk': 'DISPATCH#d1spatch#1', ':s0': 'PENDING', ':s1': 'FAILED' },
      ExclusiveStartKey: { pk: 'DISPATCH#d1spatch#1', sk: 'RECIPIENT#a-0' },
    });
  });

  it('go on within the shard while there is more, even after an empty page (U2)', async () => {
    dynamo.on(QueryCommand).resolves({ Items: [], LastEvaluatedKey: { pk: 'DISPATCH#d1spatch#1', sk: 'RECIPIENT#a#5' } });

    expect(await read({ shard: 1 })).toEqual({ rows: [], next: { shard: 1, after: 'a#5' } });
  });

  it('go on with the next shard, and end with the last', async () => {
    dynamo.on(QueryCommand).resolves({ Items: [] });

    expect(await read({ shard: 1 })).toEqual({ rows: [], next: { shard: 2 } });
    expect(await read({ shard: 2 })).toEqual({ rows: [] });
  });

  it('that cannot be read are named as such, and hold up no other', async () => {
    dynamo.on(QueryCommand).resolves({ Items: [item('a-1', { round: 'one' }), item('a-2')] });

    expect((await read({ shard: 1 })).rows.map(({ recipient }) => recipient)).toEqual(['broken', pending()]);
  });
});
