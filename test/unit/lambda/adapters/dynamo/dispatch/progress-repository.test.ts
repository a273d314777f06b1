import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createProgressRepository } from '../../../../../../lambda/adapters/dynamo/dispatch/progress-repository.ts';
import { aDispatch, rowCounts } from '../../../../../support/builders.ts';
import { createFakeClock, T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const clock = createFakeClock();
const repository = createProgressRepository({
  client: documentClient(),
  tableName: 'mail',
  retentionDays: 180,
  random: Math.random,
  sleep: clock.sleep,
});

const Key = { pk: 'DISPATCH#d1', sk: 'DISPATCH' };
const item = { ...aDispatch({ dispatchId: 'd1', status: 'IN_PROGRESS' }), createdAt: '2026-03-02T09:00:00.000Z' };
const DELTA = rowCounts({ PENDING: -2, SENT: 2 }, { bounced: 1 });

const add = (delta = DELTA) => repository.add('d1', delta, T0);
const inputs = () => dynamo.commandCalls(UpdateCommand).map(({ args }) => args[0].input);
const doesNotHold = () => new ConditionalCheckFailedException({ message: 'no', $metadata: {} });

beforeEach(() => {
  dynamo.reset();
});

describe('counting', () => {
  it('adds what changed in one write, to a dispatch that is not at its end', async () => {
    dynamo.on(UpdateCommand).resolves({ Attributes: { ...item, ...rowCounts({ PENDING: 1, SENT: 2 }, { bounced: 1 }) } });

    expect(await add()).toEqual({
      dispatch: {
        ...aDispatch({ dispatchId: 'd1', status: 'IN_PROGRESS' }),
        ...rowCounts({ PENDING: 1, SENT: 2 }, { bounced: 1 }),
      },
      openRows: 1,
    });
    expect(inputs()).toEqual([
      {
        TableName: 'mail',
        Key,
        UpdateExpression:
          'SET #counts.#PENDING = if_not_exists(#counts.#PENDING, :zero) + :PENDING, #counts.#SENT = if_not_exists(#counts.#SENT, :zero) + :SENT, #deliveries.#bounced = if_not_exists(#deliveries.#bounced, :zero) + :bounced, countedAt = :now, countsVersion = if_not_exists(countsVersion, :zero) + :step, lastProgressAt = :now',
        ConditionExpression:
          'attribute_exists(#counts) AND attribute_exists(#deliveries) AND (#status IN (:accepted, :inProgress, :stopped) OR (#status = :cancelled AND attribute_not_exists(needsAttention)))',
        ExpressionAttributeNames: {
          '#status': 'status',
          '#counts': 'counts',
          '#deliveries': 'deliveries',
          '#PENDING': 'PENDING',
          '#SENT': 'SENT',
          '#bounced': 'bounced',
        },
        ExpressionAttributeValues: {
          ':PENDING': -2,
          ':SENT': 2,
          ':bounced': 1,
          ':zero': 0,
          ':step': 1,
          ':now': '2026-03-02T09:00:00.000Z',
          ':accepted': 'ACCEPTED',
          ':inProgress': 'IN_PROGRESS',
          ':stopped': 'STOPPED',
          ':cancelled': 'CANCELLED',
        },
        ReturnValues: 'ALL_NEW',
      },
    ]);
  });

  it('of deliveries alone does not make the dispatch look as if it moved', async () => {
    dynamo.on(UpdateCommand).resolves({ Attributes: { ...item, ...rowCounts({ SENT: 3 }) } });

    await add(rowCounts({}, { delivered: 1 }));

    expect(inputs()[0]?.UpdateExpression).toBe(
      'SET #deliveries.#delivered = if_not_exists(#deliveries.#delivered, :zero) + :delivered, countedAt = :now, countsVersion = if_not_exists(countsVersion, :zero) + :step',
    );
  });

  it('tells how far the open rows have fallen below none, which the counts do not show', async () => {
    dynamo.on(UpdateCommand).resolves({ Attributes: { ...item, ...rowCounts({ PENDING: -2, PROCESSING: 1, SENT: 4 }) } });

    expect(await add()).toMatchObject({ openRows: -1, dispatch: { counts: { PENDING: 0, PROCESSING: 1 } } });
  });

  it('adds to one at its end the deliveries alone, and has it counted anew', async () => {
    dynamo.on(UpdateCommand).rejectsOnce(doesNotHold()).resolves({ Attributes: item });

    expect(await add()).toBeUndefined();

    expect(inputs()[1]).toMatchObject({
      UpdateExpression:
        'SET #deliveries.#bounced = if_not_exists(#deliveries.#bounced, :zero) + :bounced, countedAt = :now, countsVersion = if_not_exists(countsVersion, :zero) + :step, openKey = :open',
      ConditionExpression:
        'attribute_exists(#counts) AND attribute_exists(#deliveries) AND (#status = :completed OR (#status = :cancelled AND attribute_exists(needsAttention)))',
      ExpressionAttributeValues: { ':bounced': 1, ':open': 'OPEN', ':completed': 'COMPLETED', ':cancelled': 'CANCELLED' },
    });
  });

  it('has one at its end that was finished before deliveries were counted counted anew, and adds nothing', async () => {
    dynamo.on(UpdateCommand).rejectsOnce(doesNotHold()).rejectsOnce(doesNotHold()).resolves({ Attributes: item });

    expect(await add()).toBeUndefined();

    expect(inputs()[2]).toEqual({
      TableName: 'mail',
      Key,
      UpdateExpression: 'SET countedAt = :now, countsVersion = if_not_exists(countsVersion, :zero) + :step, openKey = :open',
      ConditionExpression: '(#status = :completed OR (#status = :cancelled AND attribute_exists(needsAttention)))',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':now': '2026-03-02T09:00:00.000Z',
        ':open': 'OPEN',
        ':completed': 'COMPLETED',
        ':cancelled': 'CANCELLED',
        ':zero': 0,
        ':step': 1,
      },
      ReturnValues: 'ALL_NEW',
    });
  });

  it('takes a state that the item does not know yet for none', async () => {
    const counts = { PENDING: 1, SENT: 0, FAILED: 0, UNKNOWN: 0, CANCELLED: 0 };
    dynamo.on(UpdateCommand).resolves({ Attributes: { ...item, counts, deliveries: rowCounts({}).deliveries } });

    expect(await add()).toMatchObject({ openRows: 1, dispatch: { counts: { PENDING: 1, PROCESSING: 0 } } });
  });

  it('leaves one at its end alone when nothing of deliveries changed: its states were counted exactly', async () => {
    dynamo.on(UpdateCommand).rejects(doesNotHold());

    expect(await add(rowCounts({ PROCESSING: -1, SENT: 1 }))).toBeUndefined();
    expect(inputs()).toHaveLength(1);
  });

  it('passes over one that is gone or has no counts', async () => {
    dynamo.on(UpdateCommand).rejects(doesNotHold());

    expect(await add()).toBeUndefined();
    expect(inputs()).toHaveLength(3);
  });

  it('passes over one that was written and cannot be read, which must not be added to again', async () => {
    dynamo.on(UpdateCommand).resolves({ Attributes: { ...item, ...DELTA, status: 'PAUSED' } });

    expect(await add()).toBeUndefined();
  });

  it('is tried again when another wrote the dispatch at the same time', async () => {
    dynamo
      .on(UpdateCommand)
      .rejectsOnce(sdkError('TransactionConflictException', 400))
      .resolves({ Attributes: { ...item, ...DELTA } });

    expect(await add()).toMatchObject({ openRows: -2 });
    expect(inputs()[1]).toEqual(inputs()[0]);
  });

  it('outlasts a task that writes the dispatch for more than a second', async () => {
    const conflict = sdkError('TransactionConflictException', 400);
    const update = dynamo.on(UpdateCommand);
    for (let tries = 1; tries < 6; tries += 1) update.rejectsOnce(conflict);
    update.resolves({ Attributes: { ...item, ...DELTA } });
    const begun = clock.now();

    expect(await add()).toMatchObject({ openRows: -2 });
    expect(inputs()).toHaveLength(6);
    // 100, 200, .. 1,600 ms, each shortened by up to a half.
    expect(clock.now() - begun).toBeGreaterThanOrEqual(1_550);
    expect(clock.now() - begun).toBeLessThan(3_100);
  });

  it.each([
    ['may go well later when the table is busy six times', sdkError('ThrottlingException', 400), 6, 'Unavailable'],
    ['may go well later when the table gives no answer', sdkError('TimeoutError'), 1, 'Unavailable'],
    ['never goes well when the table refuses', sdkError('AccessDeniedException', 400), 1, 'AccessDeniedException'],
  ])('%s', async (_name, error, tries, name) => {
    dynamo.on(UpdateCommand).rejects(error);

    await expect(add()).rejects.toMatchObject({ name });
    expect(inputs()).toHaveLength(tries);
  });
});

describe('a dispatch', () => {
  it('begins if it was accepted and no more', async () => {
    dynamo.on(UpdateCommand).resolves({});

    await repository.begin('d1');

    expect(inputs()[0]).toMatchObject({
      Key,
      UpdateExpression: 'SET #status = :status',
      ConditionExpression: '#status = :was_status',
      ExpressionAttributeValues: { ':status': 'IN_PROGRESS', ':was_status': 'ACCEPTED' },
    });
  });

  it('that has begun meanwhile stays as it is', async () => {
    dynamo.on(UpdateCommand).rejects(doesNotHold());

    await expect(repository.begin('d1')).resolves.toBeUndefined();
  });

  it.each([
    ['a retry that is not done', 'retry', 'open', true],
    ['a resume that is not done', 'resume', 'open', true],
    ['a retry that is done', 'retry', 'done', false],
    ['an export', 'export', 'open', false],
    ['a cancel', 'cancel', 'open', false],
  ])('that has %s is being reopened or not', async (_name, kind, state, expected) => {
    dynamo
      .on(QueryCommand)
      .resolvesOnce({ Items: [], LastEvaluatedKey: { pk: '1' } })
      .resolvesOnce({ Items: [{ pk: 'DISPATCH#d1', sk: 'TASK#0001', kind, state }] });

    expect(await repository.isReopening('d1')).toBe(expected);
  });

  it('is read consistently, if there is one', async () => {
    dynamo.on(GetCommand).resolvesOnce({ Item: item }).resolves({});

    expect(await repository.find('d1')).toEqual(aDispatch({ dispatchId: 'd1', status: 'IN_PROGRESS' }));
    expect(await repository.find('d1')).toBeUndefined();
    expect(dynamo.commandCalls(GetCommand)[0]?.args[0].input).toEqual({ TableName: 'mail', Key, ConsistentRead: true });
  });
});
