import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import {
  completeDispatch,
  finishCancelled,
  settleDispatch,
} from '../../../../../../lambda/adapters/dynamo/dispatch/finish-dispatch.ts';
import type { DispatchStatus } from '../../../../../../lambda/domain/dispatch/dispatch.ts';
import { aDispatch, rowCounts } from '../../../../../support/builders.ts';
import { T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const deps = { client: documentClient(), tableName: 'mail', retentionDays: 180 };
const rows = rowCounts({ SENT: 2, FAILED: 1 }, { bounced: 1 });
const { counts, deliveries } = rows;
const Key = { pk: 'DISPATCH#d1', sk: 'DISPATCH' };

const dispatch = (status: DispatchStatus) => aDispatch({ dispatchId: 'd1', generation: 4, status, countsVersion: 7 });
const complete = (status: DispatchStatus = 'IN_PROGRESS') => completeDispatch(deps, dispatch(status), rows, T0);
const close = () => finishCancelled(deps, dispatch('CANCELLED'), rows, T0);
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
    expect(update?.ConditionExpression).toBe('#generation = :was_generation AND #status IN (:accepted, :inProgress)');
    expect(update?.ExpressionAttributeValues).toEqual({
      ':status': 'COMPLETED',
      // A task may be left, and its events are still to come: the sweeper closes it.
      ':openKey': 'OPEN',
      ':completedAt': '2026-03-02T09:00:00.000Z',
      ':lastProgressAt': '2026-03-02T09:00:00.000Z',
      ':outcome': 'partly-sent',
      ':needsAttention': true,
      ':counts': counts,
      ':deliveries': deliveries,
      ':frozenCounts': counts,
      ':frozenGeneration': 4,
      ':was_generation': 4,
      ':accepted': 'ACCEPTED',
      ':inProgress': 'IN_PROGRESS',
    });
  });
});

describe('settling', () => {
  const settle = (found = rows, isLast = true, status: DispatchStatus = 'COMPLETED') =>
    settleDispatch(deps, { ...dispatch(status), tasks: 2 }, found, T0, isLast);
  const input = () => dynamo.commandCalls(UpdateCommand)[0]?.args[0].input;
  beforeEach(() => {
    dynamo.on(UpdateCommand).resolves({});
  });

  it('stores what a dispatch comes to now and when it was seen so, unless anything happened meanwhile', async () => {
    expect(await settle()).toBe(true);

    expect(input()?.Key).toEqual(Key);
    // A row may have changed, a task may have been begun, progress may have counted what was not in the rows yet.
    expect(input()?.ConditionExpression).toBe(
      '#generation = :was_generation AND #status = :was_status AND #tasks = :was_tasks AND #countsVersion = :was_countsVersion',
    );
    expect(input()?.ExpressionAttributeValues).toEqual({
      ':outcome': 'partly-sent',
      ':needsAttention': true,
      ':counts': counts,
      ':deliveries': deliveries,
      ':sweptAt': '2026-03-02T09:00:00.000Z',
      ':sweptGeneration': 4,
      ':sweptTasks': 2,
      ':openKey': 'ATTENTION',
      ':was_generation': 4,
      ':was_status': 'COMPLETED',
      ':was_tasks': 2,
      ':was_countsVersion': 7,
    });
    expect(dynamo.commandCalls(TransactWriteCommand)).toHaveLength(0);
  });

  it('gives a cancelled one no outcome', async () => {
    await settle(rows, true, 'CANCELLED');

    expect(input()?.UpdateExpression).not.toContain('outcome');
  });

  it('takes a dispatch of before there were counts and tasks as it is', async () => {
    await settleDispatch(deps, aDispatch({ status: 'COMPLETED' }), rows, T0, true);

    expect(input()?.ConditionExpression).toContain('attribute_not_exists(#tasks) AND attribute_not_exists(#countsVersion)');
  });

  it('does not happen when anything did', async () => {
    dynamo.on(UpdateCommand).rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));

    expect(await settle()).toBe(false);
  });

  it('leaves it among the open ones until it is for the last time', async () => {
    await settle(rows, false);

    expect(input()?.UpdateExpression).not.toContain('openKey');
  });

  it.each([
    ['that nobody need look at leaves the index of open ones', rowCounts({ SENT: 2, CANCELLED: 1 }), / REMOVE #openKey$/],
    ['in which somebody failed moves to those that need attention', rows, /#openKey = :openKey/],
    ['of which too many mails bounced moves there as well', rowCounts({ SENT: 100 }, { bounced: 11 }), /#openKey = :openKey/],
    ['of which something is unknown moves there, too', rowCounts({ SENT: 2, UNKNOWN: 1 }), /#openKey = :openKey/],
  ])('one %s', async (_name, found, expected) => {
    await settle(found);

    expect(input()?.UpdateExpression).toMatch(expected);
  });
});

describe('closing a cancelled dispatch', () => {
  it('stands on the generation that was read, and stores the counts', async () => {
    dynamo.on(TransactWriteCommand).resolves({});

    expect(await close()).toBe(true);

    const [update] = updates();
    expect(update?.Key).toEqual(Key);
    expect(update?.ConditionExpression).toBe('#generation = :was_generation AND #status = :was_status');
    expect(update?.ExpressionAttributeValues).toEqual({
      ':counts': counts,
      ':deliveries': deliveries,
      ':frozenCounts': counts,
      ':frozenGeneration': 4,
      ':needsAttention': true,
      ':lastProgressAt': '2026-03-02T09:00:00.000Z',
      ':openKey': 'OPEN',
      ':was_generation': 4,
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
