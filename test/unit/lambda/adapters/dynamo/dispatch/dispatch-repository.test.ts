import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createDispatchRepository } from '../../../../../../lambda/adapters/dynamo/dispatch/dispatch-repository.ts';
import { aDispatch } from '../../../../../support/builders.ts';
import { createFakeClock, T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const Key = { pk: 'DISPATCH#d1', sk: 'DISPATCH' };
let clock = createFakeClock();
let repository = createDispatchRepository({ client: documentClient(), tableName: 'mail', clock: clock.now });
const reads = () => dynamo.commandCalls(GetCommand).length;

beforeEach(() => {
  dynamo.reset();
  clock = createFakeClock();
  repository = createDispatchRepository({ client: documentClient(), tableName: 'mail', clock: clock.now });
});

describe('the status of a dispatch', () => {
  it('is read consistently, with the time of accept and nothing else', async () => {
    dynamo.on(GetCommand).resolves({ Item: { status: 'IN_PROGRESS' } });

    expect(await repository.status('d1')).toBe('IN_PROGRESS');
    expect(dynamo.commandCalls(GetCommand)[0]?.args[0].input).toEqual({
      TableName: 'mail',
      Key,
      ConsistentRead: true,
      ProjectionExpression: '#status, createdAt',
      ExpressionAttributeNames: { '#status': 'status' },
    });
  });

  it.each(['ACCEPTED', 'IN_PROGRESS', 'COMPLETED'])('%s is known for five seconds', async (status) => {
    dynamo
      .on(GetCommand)
      .resolvesOnce({ Item: { status } })
      .resolves({ Item: { status: 'STOPPED' } });

    expect(await repository.status('d1')).toBe(status);
    clock.advance(4_999);
    expect(await repository.status('d1')).toBe(status);
    expect(reads()).toBe(1);
    clock.advance(1);
    expect(await repository.status('d1')).toBe('STOPPED');
  });

  it.each([
    ['as it is', '2026-03-02T09:00:00.000Z', Date.parse('2026-03-02T09:00:00.000Z')],
    ['as unknown where it cannot be read, which stops nothing', 'yesterday', undefined],
  ])('comes with the time of accept, %s', async (_, createdAt, expected) => {
    dynamo.on(GetCommand).resolves({ Item: { status: 'IN_PROGRESS', createdAt } });

    expect(repository.acceptedAt('d1')).toBeUndefined();
    expect(await repository.status('d1')).toBe('IN_PROGRESS');
    expect(repository.acceptedAt('d1')).toBe(expected);
  });

  it.each(['STOPPED', 'CANCELLED'])('%s is read anew each time, since it ends by a person’s call', async (status) => {
    dynamo
      .on(GetCommand)
      .resolvesOnce({ Item: { status } })
      .resolves({ Item: { status: 'IN_PROGRESS' } });

    expect(await repository.status('d1')).toBe(status);
    expect(await repository.status('d1')).toBe('IN_PROGRESS');
  });

  it('is known for each dispatch by itself', async () => {
    dynamo.on(GetCommand, { Key }).resolves({ Item: { status: 'ACCEPTED' } });
    dynamo.on(GetCommand, { Key: { ...Key, pk: 'DISPATCH#d2' } }).resolves({ Item: { status: 'STOPPED' } });

    expect([await repository.status('d1'), await repository.status('d2')]).toEqual(['ACCEPTED', 'STOPPED']);
  });

  it('is kept of the newest thousand', async () => {
    dynamo.on(GetCommand).resolves({ Item: { status: 'ACCEPTED' } });
    for (let i = 0; i <= 1_000; i += 1) await repository.status(`d${i}`);
    expect(reads()).toBe(1_001);

    await repository.status('d1000');
    expect(reads()).toBe(1_001);
    await repository.status('d0');
    expect(reads()).toBe(1_002);
  });

  it('is unknown of a dispatch that is not there, each time', async () => {
    dynamo
      .on(GetCommand)
      .resolvesOnce({})
      .resolves({ Item: { status: 'ACCEPTED' } });

    expect(await repository.status('d1')).toBe('unknown-dispatch');
    expect(await repository.status('d1')).toBe('ACCEPTED');
  });

  it('cannot be told when the table does not answer, or of one that no version of this code wrote', async () => {
    dynamo
      .on(GetCommand)
      .rejectsOnce(sdkError('TimeoutError'))
      .resolves({ Item: { status: 'PAUSED' } });

    expect(await repository.status('d1')).toBe('unavailable');
    expect(await repository.status('d1')).toBe('unavailable');
  });

  it('that may not be read is not hidden', async () => {
    dynamo.on(GetCommand).rejects(sdkError('AccessDeniedException', 400));

    await expect(repository.status('d1')).rejects.toThrow('AccessDeniedException');
  });
});

describe('a dispatch that this sender stops', () => {
  it('is known to be stopped at once', async () => {
    dynamo
      .on(GetCommand)
      .resolvesOnce({ Item: { status: 'IN_PROGRESS' } })
      .resolves({ Item: { status: 'STOPPED' } });
    dynamo.on(UpdateCommand).resolves({});
    await repository.status('d1');

    await repository.stop(aDispatch({ dispatchId: 'd1' }), { reason: 'permanent-failures' }, T0);

    expect(await repository.status('d1')).toBe('STOPPED');
  });
});

describe('mails that were refused for good', () => {
  it('are added, and the dispatch comes back with how many there are', async () => {
    const Attributes = { ...aDispatch({ dispatchId: 'd1' }), createdAt: '2026-03-02T09:00:00.000Z', refusedCount: 12, tasks: 2 };
    dynamo.on(UpdateCommand).resolves({ Attributes });

    expect(await repository.addRefused('d1', 3)).toEqual({ refused: 12, dispatch: aDispatch({ dispatchId: 'd1' }) });
    expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input).toEqual({
      TableName: 'mail',
      Key,
      UpdateExpression: 'ADD refusedCount :count',
      ConditionExpression: '#status IN (:accepted, :inProgress)',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':count': 3, ':accepted': 'ACCEPTED', ':inProgress': 'IN_PROGRESS' },
      ReturnValues: 'ALL_NEW',
    });
  });

  it('are not counted of a dispatch that is not being sent', async () => {
    dynamo.on(UpdateCommand).rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));

    expect(await repository.addRefused('d1', 3)).toBeUndefined();
  });

  it('that cannot be counted say so', async () => {
    dynamo.on(UpdateCommand).rejects(sdkError('TimeoutError'));

    await expect(repository.addRefused('d1', 3)).rejects.toThrow('TimeoutError');
  });
});

describe('the rows that became final', () => {
  const row = (status: string, ended: object) => ({
    pk: 'DISPATCH#d1#0',
    sk: 'RECIPIENT#a',
    status,
    nextAttemptAt: '2026-03-02T08:00:00.000Z',
    ...ended,
  });
  const failedAt = (iso: string, lastErrorCode = 'BAD_REQUEST') => row('FAILED', { failedAt: iso, lastErrorCode });

  it('are those since accept, page after page, read consistently', async () => {
    dynamo
      .on(QueryCommand)
      .resolvesOnce({ Items: [failedAt('2026-03-02T09:00:00.000Z')], LastEvaluatedKey: { pk: '1' } })
      .resolves({ Items: [failedAt('2026-03-02T09:00:00.001Z', 'MESSAGE_REJECTED'), failedAt('2026-03-02T08:59:59.999Z')] });

    expect(await repository.finalRows(aDispatch({ dispatchId: 'd1', shards: 1 }))).toEqual({
      final: 2,
      refused: 2,
      codes: new Set(['BAD_REQUEST', 'MESSAGE_REJECTED']),
      since: T0,
    });
    expect(dynamo.commandCalls(QueryCommand)[0]?.args[0].input).toMatchObject({
      TableName: 'mail',
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :recipient)',
      ExpressionAttributeValues: { ':pk': 'DISPATCH#d1#0', ':recipient': 'RECIPIENT#' },
      ProjectionExpression:
        'pk, sk, #status, delivery, nextAttemptAt, leaseUntil, messageId, sentAt, failedAt, lastErrorCode, expiresAt, reopenedAfter',
      ExpressionAttributeNames: { '#status': 'status' },
    });
  });

  it('count a refusal after a lost attempt as one, though that leaves its recipient UNKNOWN (V29)', async () => {
    const failedAt = '2026-03-02T10:00:00.000Z';
    const unknown = (lastErrorCode: string) => row('UNKNOWN', { failedAt, lastErrorCode });
    dynamo.on(QueryCommand).resolves({
      Items: [unknown('MESSAGE_REJECTED'), unknown('OUTCOME_UNCLEAR'), unknown('ATTEMPTS_EXHAUSTED')],
    });

    expect(await repository.finalRows(aDispatch({ dispatchId: 'd1' }))).toMatchObject({
      final: 3,
      refused: 1,
      codes: new Set(['MESSAGE_REJECTED']),
    });
  });

  it('are judged by their present state, whatever an earlier one left in them', async () => {
    const [before, after] = ['2026-03-02T08:00:00.000Z', '2026-03-02T10:00:00.000Z'];
    dynamo.on(QueryCommand).resolves({
      Items: [
        row('SENT', { sentAt: before, failedAt: after, lastErrorCode: 'BAD_REQUEST' }),
        row('PENDING', { failedAt: after, lastErrorCode: 'BAD_REQUEST' }),
        row('CANCELLED', { failedAt: after, lastErrorCode: 'BAD_REQUEST' }),
        row('FAILED', { sentAt: after, failedAt: before, lastErrorCode: 'BAD_REQUEST' }),
        row('FAILED', { failedAt: after, lastErrorCode: 'ATTEMPTS_EXHAUSTED' }),
      ],
    });

    expect(await repository.finalRows(aDispatch({ dispatchId: 'd1' }))).toEqual({
      final: 1,
      refused: 0,
      codes: new Set(),
      since: undefined,
    });
  });
});
