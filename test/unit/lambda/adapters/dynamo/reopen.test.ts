import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { reopenRecipient } from '../../../../../lambda/adapters/dynamo/reopen.ts';
import { aKey, exhausted, pending } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const reopen = () =>
  reopenRecipient(
    documentClient(),
    'mail',
    aKey(),
    exhausted({ round: 2 }),
    pending({ round: 3, nextAttemptAt: T0 + 9, lastErrorCode: 'ATTEMPTS_EXHAUSTED' }),
  );
const cancelledBy = (...codes: string[]) =>
  new TransactionCanceledException({
    message: 'cancelled',
    $metadata: {},
    CancellationReasons: codes.map((Code) => ({ Code })),
  });

beforeEach(() => {
  dynamo.reset();
});

describe('reopening', () => {
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

  it('puts the recipient back only from the very failure that was read', async () => {
    dynamo.on(TransactWriteCommand).resolves({});
    await reopen();

    const update = dynamo.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems?.[0]?.Update;
    expect(update?.ConditionExpression).toBe(
      '#status = :failed AND lastErrorCode = :exhausted AND #round = :round AND failedAt = :failedAt',
    );
    expect(update?.ExpressionAttributeValues).toMatchObject({
      ':failed': 'FAILED',
      ':exhausted': 'ATTEMPTS_EXHAUSTED',
      ':round': 2,
      ':failedAt': '2026-03-02T09:00:00.000Z',
    });
    const set: unknown = Object.fromEntries(
      (update?.UpdateExpression ?? '')
        .replace(/^SET /, '')
        .replace(/ REMOVE .*$/, '')
        .split(', ')
        .map((part) => part.split(' = '))
        .map(([name = '', value = '']) => [
          update?.ExpressionAttributeNames?.[name],
          update?.ExpressionAttributeValues?.[value] as unknown,
        ]),
    );
    expect(set).toEqual({
      status: 'PENDING',
      round: 3,
      attemptCount: 0,
      nextAttemptAt: '2026-03-02T09:00:00.009Z',
      lastErrorCode: 'ATTEMPTS_EXHAUSTED',
    });
    expect(update?.UpdateExpression).toMatch(/ REMOVE expiresAt$/);
  });

  it('opens the dispatch again with a higher generation, unless it was stopped or cancelled', async () => {
    dynamo.on(TransactWriteCommand).resolves({});
    await reopen();

    const update = dynamo.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems?.[1]?.Update;
    expect(update?.UpdateExpression).toBe(
      'SET #status = :inProgress, generation = generation + :one, openKey = :open REMOVE completedAt, outcome, expiresAt',
    );
    expect(update?.ConditionExpression).toBe('#status IN (:accepted, :inProgress, :completed)');
    expect(update?.ExpressionAttributeValues).toEqual({
      ':inProgress': 'IN_PROGRESS',
      ':accepted': 'ACCEPTED',
      ':completed': 'COMPLETED',
      ':one': 1,
      ':open': 'OPEN',
    });
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
    ['is lost when a condition failed', cancelledBy('ConditionalCheckFailed', 'None', 'None'), 'lease-lost'],
    ['is lost when the dispatch was stopped', cancelledBy('None', 'ConditionalCheckFailed', 'None'), 'lease-lost'],
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
