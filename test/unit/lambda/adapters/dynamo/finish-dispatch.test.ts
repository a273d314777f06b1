import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { closeDispatch, completeDispatch } from '../../../../../lambda/adapters/dynamo/finish-dispatch.ts';
import type { DispatchStatus } from '../../../../../lambda/domain/dispatch.ts';
import { aDispatch, rowCounts } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const deps = { client: documentClient(), tableName: 'mail', retentionDays: 180 };
const rows = rowCounts({ SENT: 2, FAILED: 1 }, { bounced: 1 });
const { counts, deliveries } = rows;
const Key = { pk: 'DISPATCH#d1', sk: 'DISPATCH' };

const dispatch = (status: DispatchStatus) => aDispatch({ dispatchId: 'd1', generation: 4, status, countedAt: T0 - 1_000 });
const complete = (status: DispatchStatus = 'IN_PROGRESS') => completeDispatch(deps, dispatch(status), rows, T0);
const close = () => closeDispatch(deps, dispatch('CANCELLED'), rows, T0);
const updates = () =>
  (dynamo.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems ?? []).map(({ Update }) => Update);
const cancelledBy = (...codes: string[]) =>
  new TransactionCanceledException({ message: 'no', $metadata: {}, CancellationReasons: codes.map((Code) => ({ Code })) });

beforeEach(() => {
  dynamo.reset();
});

describe('completing', () => {
  it('stands on the generation that was read, and on an open status (Q9)', async () => {
    dynamo.on(TransactWriteCommand).resolves({});

    expect(await complete()).toBe(true);

    const [update] = updates();
    expect(update?.Key).toEqual(Key);
    expect(update?.ConditionExpression).toBe(
      '#generation = :was_generation AND #countedAt = :was_countedAt AND #status IN (:accepted, :inProgress)',
    );
    expect(update?.ExpressionAttributeValues).toEqual({
      ':status': 'COMPLETED',
      ':openKey': 'ATTENTION',
      ':completedAt': '2026-03-02T09:00:00.000Z',
      ':lastProgressAt': '2026-03-02T09:00:00.000Z',
      ':outcome': 'partly-sent',
      ':needsAttention': true,
      ':counts': counts,
      ':deliveries': deliveries,
      ':was_generation': 4,
      ':was_countedAt': '2026-03-02T08:59:59.000Z',
      ':accepted': 'ACCEPTED',
      ':inProgress': 'IN_PROGRESS',
    });
  });

  it('of one that was completed before stores what it comes to now, and nothing else', async () => {
    dynamo.on(UpdateCommand).resolves({});

    expect(await complete('COMPLETED')).toBe(true);

    const input = dynamo.commandCalls(UpdateCommand)[0]?.args[0].input;
    expect(input?.UpdateExpression).toBe(
      'SET #outcome = :outcome, #needsAttention = :needsAttention, #counts = :counts, #deliveries = :deliveries, #openKey = :openKey',
    );
    // Progress may have counted something that was not in the rows yet.
    expect(input?.ConditionExpression).toBe(
      '#generation = :was_generation AND #status = :was_status AND #countedAt = :was_countedAt',
    );
    expect(input?.ExpressionAttributeValues).toMatchObject({ ':was_generation': 4, ':was_status': 'COMPLETED' });
    expect(dynamo.commandCalls(TransactWriteCommand)).toHaveLength(0);
  });

  it('of one that was completed before does not happen when a row changed meanwhile', async () => {
    dynamo.on(UpdateCommand).rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));

    expect(await complete('COMPLETED')).toBe(false);
  });
});

describe('a dispatch that is over', () => {
  it.each([
    ['that nobody need look at leaves the index of open ones', rowCounts({ SENT: 2, CANCELLED: 1 }), / REMOVE #openKey$/],
    ['in which somebody failed moves to those that need attention', rows, /#openKey = :openKey/],
    ['of which too many mails bounced moves there as well', rowCounts({ SENT: 100 }, { bounced: 11 }), /#openKey = :openKey/],
    ['of which something is unknown moves there, too', rowCounts({ SENT: 2, UNKNOWN: 1 }), /#openKey = :openKey/],
  ])('%s', async (_name, found, expected) => {
    dynamo.on(TransactWriteCommand).resolves({});
    dynamo.on(UpdateCommand).resolves({});

    await completeDispatch(deps, dispatch('COMPLETED'), found, T0);
    await closeDispatch(deps, dispatch('CANCELLED'), found, T0);

    expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input.UpdateExpression).toMatch(expected);
    expect(updates()[0]?.UpdateExpression).toMatch(expected);
  });
});

describe('closing a cancelled dispatch', () => {
  it('stands on the generation that was read, and stores the counts', async () => {
    dynamo.on(TransactWriteCommand).resolves({});

    expect(await close()).toBe(true);

    const [update] = updates();
    expect(update?.Key).toEqual(Key);
    expect(update?.ConditionExpression).toBe(
      '#generation = :was_generation AND #status = :was_status AND #countedAt = :was_countedAt',
    );
    expect(update?.ExpressionAttributeValues).toEqual({
      ':counts': counts,
      ':deliveries': deliveries,
      ':needsAttention': true,
      ':lastProgressAt': '2026-03-02T09:00:00.000Z',
      ':openKey': 'ATTENTION',
      ':was_generation': 4,
      ':was_countedAt': '2026-03-02T08:59:59.000Z',
      ':was_status': 'CANCELLED',
    });
  });
});

describe.each<[string, () => Promise<boolean>]>([
  ['completing', () => complete()],
  ['closing', close],
])('%s', (_name, finish) => {
  it('lets the content expire in the same transaction, unless it does already', async () => {
    dynamo.on(TransactWriteCommand).resolves({});
    await finish();

    expect(updates()[1]).toMatchObject({
      Key: { pk: 'DISPATCH#d1', sk: 'CONTENT' },
      UpdateExpression: 'SET expiresAt = if_not_exists(expiresAt, :expiry)',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':expiry': Date.parse('2026-08-29T09:00:00.000Z') / 1000 },
    });
  });

  it('leaves it to the sweeper to count once more when progress counted meanwhile', async () => {
    dynamo.on(TransactWriteCommand).rejectsOnce(cancelledBy('ConditionalCheckFailed', 'None')).resolves({});

    expect(await finish()).toBe(true);

    const [, second] = dynamo.commandCalls(TransactWriteCommand);
    const update = second?.args[0].input.TransactItems?.[0]?.Update;
    expect(update?.ExpressionAttributeValues).toMatchObject({ ':openKey': 'OPEN', ':was_generation': 4 });
    expect(update?.ConditionExpression).not.toContain('countedAt');
  });

  it('goes without content that is gone', async () => {
    dynamo.on(TransactWriteCommand).rejects(cancelledBy('None', 'ConditionalCheckFailed'));
    dynamo.on(UpdateCommand).resolves({});

    expect(await finish()).toBe(true);
    expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input).toEqual(updates()[0]);
  });

  it.each([
    ['the dispatch changed meanwhile', cancelledBy('ConditionalCheckFailed', 'None')],
    ['the dispatch changed meanwhile and its content is gone', cancelledBy('ConditionalCheckFailed', 'ConditionalCheckFailed')],
    ['others write it at the same time', cancelledBy('TransactionConflict', 'None')],
  ])('does not happen when %s', async (_case, error) => {
    dynamo.on(TransactWriteCommand).rejects(error);

    expect(await finish()).toBe(false);
    expect(dynamo.commandCalls(UpdateCommand)).toHaveLength(0);
  });

  it('fails on anything else', async () => {
    dynamo.on(TransactWriteCommand).rejects(sdkError('AccessDeniedException', 400));

    await expect(finish()).rejects.toThrow('AccessDeniedException');
  });
});
