import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { reopenRecipient } from '../../../../../../lambda/adapters/dynamo/recipient/reopen.ts';
import type { DispatchStatus } from '../../../../../../lambda/domain/dispatch/dispatch.ts';
import type { RecipientIn } from '../../../../../../lambda/domain/recipient/recipient.ts';
import { aKey, exhausted, pending, unknown } from '../../../../../support/builders.ts';
import { T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const reopen = (dispatch: DispatchStatus = 'COMPLETED', from: RecipientIn<'FAILED' | 'UNKNOWN'> = exhausted({ round: 2 })) =>
  reopenRecipient(
    { client: documentClient(), tableName: 'mail', clock: () => T0 },
    aKey(),
    from,
    pending({ round: 3, nextAttemptAt: T0 + 9, lastErrorCode: from.lastErrorCode }),
    dispatch,
  );
const updates = () =>
  (dynamo.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems ?? []).map(({ Update }) => Update);
const cancelledBy = (...codes: string[]) =>
  new TransactionCanceledException({
    message: 'cancelled',
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

beforeEach(() => {
  dynamo.reset();
  dynamo.on(GetCommand).resolves({ Item: { pk: 'DISPATCH#d1spatch' } });
});

describe('reopening', () => {
  it('takes the recipient out of the counts of the last end of its dispatch, once (V10)', async () => {
    dynamo.on(GetCommand).resolves({ Item: { pk: 'DISPATCH#d1spatch', frozenGeneration: 6 } });
    dynamo.on(TransactWriteCommand).resolves({});

    expect(await reopen()).toBe('written');

    const [row, dispatch] = updates();
    expect(row?.ExpressionAttributeValues?.[':reopenedAfter']).toBe(6);
    expect(dispatch?.UpdateExpression).toMatch(/^SET frozenCounts\.#from = frozenCounts\.#from - :one, /);
    expect(dispatch?.ExpressionAttributeNames?.['#from']).toBe('FAILED');
    expect(dispatch?.ConditionExpression).toMatch(/ AND frozenGeneration = :frozenGeneration$/);
    expect(dispatch?.ExpressionAttributeValues?.[':frozenGeneration']).toBe(6);
  });

  it('leaves the counts of the last end alone when the recipient was reopened after it already', async () => {
    dynamo.on(GetCommand).resolves({ Item: { pk: 'DISPATCH#d1spatch', frozenGeneration: 6, reopenedAfter: 6 } });
    dynamo.on(TransactWriteCommand).resolves({});

    expect(await reopen()).toBe('written');
    expect(updates()[1]?.UpdateExpression).not.toContain('frozenCounts');
  });

  it('is lost when the dispatch is gone', async () => {
    dynamo.on(GetCommand).resolves({});

    expect(await reopen()).toBe('conflict');
  });

  it('is one transaction of recipient, dispatch and content', async () => {
    dynamo.on(TransactWriteCommand).resolves({});

    expect(await reopen()).toBe('written');

    const items = dynamo.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems ?? [];
    expect(items.map(({ Update }) => Update?.Key)).toEqual([
      { pk: 'DISPATCH#d1spatch#0', sk: 'RECIPIENT#a-1' },
      { pk: 'DISPATCH#d1spatch', sk: 'DISPATCH' },
      { pk: 'DISPATCH#d1spatch', sk: 'CONTENT' },
    ]);
  });

  it.each([exhausted({ round: 2 }), unknown({ round: 2 })])(
    'puts one that is $status back only from the very failure that was read',
    async (from) => {
      dynamo.on(TransactWriteCommand).resolves({});
      await reopen('COMPLETED', from);

      const [update] = updates();
      expect(update?.UpdateExpression).toBe(
        'SET #status = :status, #round = :round, #attemptCount = :attemptCount, #nextAttemptAt = :nextAttemptAt, ' +
          '#lastErrorCode = :lastErrorCode REMOVE #expiresAt',
      );
      expect(update?.ConditionExpression).toBe(
        '#status = :was_status AND #round = :was_round AND #lastErrorCode = :was_lastErrorCode AND #failedAt = :was_failedAt ' +
          'AND (attribute_not_exists(expiresAt) OR expiresAt > :now)',
      );
      expect(update?.ExpressionAttributeValues).toEqual({
        ':status': 'PENDING',
        ':round': 3,
        ':attemptCount': 0,
        ':nextAttemptAt': '2026-03-02T09:00:00.009Z',
        ':lastErrorCode': from.lastErrorCode,
        ':was_status': from.status,
        ':was_round': 2,
        ':was_lastErrorCode': from.lastErrorCode,
        ':was_failedAt': '2026-03-02T09:00:00.000Z',
        ':now': T0 / 1000,
      });
    },
  );

  it.each(['ACCEPTED', 'IN_PROGRESS', 'COMPLETED'] as const)(
    'opens a dispatch that is %s with a higher generation, unless it was stopped or cancelled meanwhile',
    async (status) => {
      dynamo.on(TransactWriteCommand).resolves({});
      await reopen(status);

      const [, update] = updates();
      expect(update?.UpdateExpression).toBe(
        'SET #status = :inProgress, generation = generation + :one, openKey = :open' +
          // What bounced before says nothing about what is sent now.
          (status === 'COMPLETED' ? ', statisticsSince = :since ' : ' ') +
          'REMOVE completedAt, outcome, needsAttention, expiresAt',
      );
      expect(update?.ConditionExpression).toBe(
        '#status IN (:accepted, :inProgress, :completed) AND attribute_not_exists(frozenGeneration)',
      );
      expect(update?.ExpressionAttributeValues).toEqual({
        ':inProgress': 'IN_PROGRESS',
        ':accepted': 'ACCEPTED',
        ':completed': 'COMPLETED',
        ':one': 1,
        ':open': 'OPEN',
        ...(status === 'COMPLETED' && { ':since': '2026-03-02T09:00:00.009Z' }),
      });
    },
  );

  it('leaves a stopped dispatch stopped, with a higher generation (Q6b)', async () => {
    dynamo.on(TransactWriteCommand).resolves({});

    expect(await reopen('STOPPED')).toBe('written');
    expect(updates()[1]).toMatchObject({
      UpdateExpression: 'SET generation = generation + :one, openKey = :open',
      ConditionExpression: '#status = :stopped AND attribute_not_exists(frozenGeneration)',
      ExpressionAttributeValues: { ':stopped': 'STOPPED', ':one': 1, ':open': 'OPEN' },
    });
  });

  it('does nothing in a cancelled dispatch', async () => {
    expect(await reopen('CANCELLED')).toBe('conflict');
    expect(dynamo.commandCalls(TransactWriteCommand)).toHaveLength(0);
  });

  it('keeps the content from expiring, and fails without it', async () => {
    dynamo.on(TransactWriteCommand).resolves({});
    await reopen();

    expect(dynamo.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems?.[2]?.Update).toMatchObject({
      UpdateExpression: 'REMOVE expiresAt',
      ConditionExpression: 'attribute_exists(pk)',
    });
  });

  it.each<[string, Error, string]>([
    ['is lost when a condition failed', cancelledBy('ConditionalCheckFailed', 'None', 'None'), 'conflict'],
    ['is lost when the dispatch was stopped', cancelledBy('None', 'ConditionalCheckFailed', 'None'), 'conflict'],
    ['is open when transactions collided', cancelledBy('None', 'TransactionConflict', 'None'), 'unavailable'],
    ['is open when no answer came', sdkError('TimeoutError'), 'unavailable'],
  ])('%s', async (_name, error, expected) => {
    dynamo.on(TransactWriteCommand).rejects(error);

    expect(await reopen()).toBe(expected);
  });

  it('fails on what no repetition will cure', async () => {
    dynamo.on(TransactWriteCommand).rejects(sdkError('ValidationException', 400));

    await expect(reopen()).rejects.toThrow('ValidationException');
  });
});
