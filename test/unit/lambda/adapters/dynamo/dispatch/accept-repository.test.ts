import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createAcceptRepository } from '../../../../../../lambda/adapters/dynamo/dispatch/accept-repository.ts';
import { toItems } from '../../../../../../lambda/adapters/dynamo/dispatch/dispatch-items.ts';
import { storeObjects } from '../../../../../../lambda/adapters/dynamo/dispatch/store-objects.ts';
import { Unavailable } from '../../../../../../lambda/application/ports/errors.ts';
import { aNewDispatch, someRecipientInputs } from '../../../../../support/accept-builders.ts';
import { createFakeClock, type FakeClock, T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';
import { createFakeObjects, type FakeObjects } from '../../../../../support/fake-objects.ts';

const table = mockClient(DynamoDBDocumentClient);
let clock: FakeClock;
let objects: FakeObjects;
const repository = (random = 0.5) => {
  let ids = 0;
  return createAcceptRepository({
    client: documentClient(),
    tableName: 'mail',
    objects,
    clock: clock.now,
    random: () => random,
    sleep: clock.sleep,
    newId: () => `token-${(ids += 1)}`,
  });
};

beforeEach(() => {
  table.reset();
  clock = createFakeClock();
  objects = createFakeObjects();
});

const entry = aNewDispatch(someRecipientInputs(2));
const stored = () => {
  const dispatchItems = toItems(entry);
  return dispatchItems.ok ? { ...dispatchItems.dispatch } : {};
};
const known = { dispatch: entry.dispatch, fingerprint: 'v1:whole', fieldHashes: { subject: 'hash-of-subject' } };

const cancelled = (...codes: string[]) =>
  new TransactionCanceledException({
    message: 'Transaction cancelled',
    $metadata: { httpStatusCode: 400 },
    CancellationReasons: codes.map((Code) => ({ Code })),
  });
const tries = () => table.commandCalls(TransactWriteCommand).map(({ args }) => args[0].input);

describe('storing a dispatch', () => {
  it('is one transaction, on the condition that the dispatch is not there', async () => {
    table.on(TransactWriteCommand).resolves({});
    const dispatchItems = toItems(entry);
    const items = dispatchItems.ok ? await storeObjects(objects, entry, dispatchItems) : [];

    expect(await repository().create(entry)).toEqual({ outcome: 'created' });
    expect(tries()).toEqual([
      {
        TransactItems: items.map((Item, i) => ({
          Put: { TableName: 'mail', Item, ...(i === 0 && { ConditionExpression: 'attribute_not_exists(pk)' }) },
        })),
        ClientRequestToken: 'token-1',
      },
    ]);
  });

  it.each([
    ['alone', cancelled('ConditionalCheckFailed', 'None', 'None', 'None')],
    ['beside a conflict', cancelled('ConditionalCheckFailed', 'TransactionConflict', 'None', 'None')],
    ['beside a fault', cancelled('ConditionalCheckFailed', 'ValidationError', 'None', 'None')],
  ])('finds the dispatch there already: its reason counts first, %s', async (_name, error) => {
    table.on(TransactWriteCommand).rejects(error).on(GetCommand).resolves({ Item: stored() });

    expect(await repository().create(entry)).toEqual({ outcome: 'exists', known });
    expect(tries()).toHaveLength(1);
  });

  it.each([
    ['a conflict', cancelled('TransactionConflict', 'None', 'None', 'None')],
    ['a conflict over another item', cancelled('None', 'None', 'TransactionConflict', 'None')],
    ['a throttled item', cancelled('None', 'ThrottlingError', 'None', 'None')],
    ['an item beyond the throughput', cancelled('None', 'ProvisionedThroughputExceeded', 'None', 'None')],
    ['throttling', sdkError('ThrottlingException', 400)],
    ['a throughput exceeded', sdkError('ProvisionedThroughputExceededException', 400)],
    ['its own earlier try', sdkError('TransactionInProgressException', 400)],
    ['a fault of the service', sdkError('InternalServerError', 500)],
    ['a lost answer', sdkError('TimeoutError')],
  ])('is tried again with the same token after %s', async (_name, error) => {
    table.on(TransactWriteCommand).rejectsOnce(error).resolves({}).on(GetCommand).resolves({});

    expect(await repository().create(entry)).toEqual({ outcome: 'created' });
    expect(tries().map(({ ClientRequestToken }) => ClientRequestToken)).toEqual(['token-1', 'token-1']);
    expect(tries()[1]?.TransactItems).toEqual(tries()[0]?.TransactItems);
  });

  it('looks whether it was stored before it tries again: the answer alone may have been lost', async () => {
    table.on(TransactWriteCommand).rejects(sdkError('TimeoutError')).on(GetCommand).resolves({ Item: stored() });

    expect(await repository().create(entry)).toEqual({ outcome: 'exists', known });
    expect(tries()).toHaveLength(1);
  });

  it.each([0, 1])('gives up within 3 seconds, with jitter of %d', async (random) => {
    table
      .on(TransactWriteCommand)
      .rejects(cancelled('TransactionConflict', 'None', 'None', 'None'))
      .on(GetCommand)
      .resolves({});

    const error: unknown = await repository(random)
      .create(entry)
      .catch((caught: unknown) => caught);

    expect(error).toBeInstanceOf(Unavailable);
    expect(error).toMatchObject({ retryAfterSeconds: 1 });
    const slept = clock.slept.reduce((sum, ms) => sum + ms, 0);
    expect(slept).toBeLessThanOrEqual(3_000);
    expect(slept).toBeGreaterThan(2_000);
  });

  it.each([
    ['a fault of an item', cancelled('None', 'ValidationError', 'None', 'None')],
    ['a condition of another item', cancelled('None', 'ConditionalCheckFailed', 'None', 'None', 'None')],
    ['a fault beside a conflict', cancelled('TransactionConflict', 'ValidationError', 'None', 'None')],
    ['a missing right', sdkError('AccessDeniedException', 400)],
    ['a bug of ours', new TypeError('x is not a function')],
  ])('lets %s through untouched', async (_name, error) => {
    table.on(TransactWriteCommand).rejects(error).on(GetCommand).resolves({});

    await expect(repository().create(entry)).rejects.toBe(error);
    expect(tries()).toHaveLength(1);
  });

  it('asks the table nothing when it is too large', async () => {
    const text = Array.from({ length: 500_000 }, (_, i) => String.fromCodePoint(0x4e00 + ((i * 7_919) % 20_000))).join('');

    expect(await repository().create(aNewDispatch(someRecipientInputs(1), { text }))).toEqual({
      outcome: 'too-large',
      limit: 'content',
    });
    expect(table.calls()).toHaveLength(0);
  });
});

describe('the guard of a content', () => {
  const guarding = (overrides: boolean) => ({ ...entry, guard: { until: T0 + 600_000, overrides } });
  const key = { pk: 'GUARD#v1:whole', sk: 'GUARD' };
  const expiresAt = T0 / 1000 + 600;
  const item = { ...key, dispatchId: 'earlier', adminId: 'admin-2', expiresAt };
  /** The last of five items. */
  const refused = cancelled('None', 'None', 'None', 'None', 'ConditionalCheckFailed');
  const guardIs = (Item?: Record<string, unknown>) => {
    table.on(GetCommand).resolves({}).on(GetCommand, { Key: key }).resolves({ Item });
  };

  it('is put in the same transaction, on the condition that none stands by its own time', async () => {
    table.on(TransactWriteCommand).resolves({});

    await repository().create(guarding(false));

    expect(tries()[0]?.TransactItems?.at(-1)).toEqual({
      Put: {
        TableName: 'mail',
        Item: { ...key, dispatchId: 'd1spatch', adminId: 'admin-1', expiresAt },
        ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now',
        ExpressionAttributeValues: { ':now': T0 / 1000 },
      },
    });
  });

  it('takes the place of another one if a repetition is allowed', async () => {
    table.on(TransactWriteCommand).resolves({});

    await repository().create(guarding(true));

    expect(tries()[0]?.TransactItems?.at(-1)).toEqual({
      Put: { TableName: 'mail', Item: { ...key, dispatchId: 'd1spatch', adminId: 'admin-1', expiresAt } },
    });
  });

  it.each([
    ['alone', refused],
    ['beside a conflict', cancelled('TransactionConflict', 'None', 'None', 'None', 'ConditionalCheckFailed')],
  ])('that stands is the answer, %s', async (_name, error) => {
    table.on(TransactWriteCommand).rejects(error);
    guardIs(item);

    expect(await repository().create(guarding(false))).toEqual({
      outcome: 'guarded',
      by: { dispatchId: 'earlier', adminId: 'admin-2' },
    });
    expect(table.commandCalls(GetCommand).at(-1)?.args[0].input).toMatchObject({ Key: key, ConsistentRead: true });
  });

  it('counts for nothing if the dispatch itself is there already', async () => {
    table.on(TransactWriteCommand).rejects(cancelled('ConditionalCheckFailed', 'None', 'None', 'None', 'ConditionalCheckFailed'));
    table.on(GetCommand).resolves({ Item: stored() });

    expect(await repository().create(guarding(false))).toEqual({ outcome: 'exists', known });
    expect(table.commandCalls(GetCommand)).toHaveLength(1);
  });

  it.each([
    ['is gone', undefined],
    ['is over', { ...item, expiresAt: T0 / 1000 }],
  ])('that %s when it is looked at does not keep the next try from being made', async (_name, Item) => {
    table.on(TransactWriteCommand).rejectsOnce(refused).resolves({});
    guardIs(Item);

    expect(await repository().create(guarding(false))).toEqual({ outcome: 'created' });
  });

  it('that cannot be read asks for patience', async () => {
    table.on(TransactWriteCommand).rejects(refused);
    table.on(GetCommand).resolves({}).on(GetCommand, { Key: key }).rejects(sdkError('ThrottlingException', 400));

    await expect(repository().create(guarding(false))).rejects.toBeInstanceOf(Unavailable);
  });
});

describe('a dispatch that is too large for its transaction', () => {
  const large = aNewDispatch(someRecipientInputs(2_500));
  const guarded = { ...large, guard: { until: T0 + 600_000, overrides: false } };
  const guardKey = { pk: 'GUARD#v1:whole', sk: 'GUARD' };

  it('has its recipients in objects before the transaction that names them', async () => {
    table.on(TransactWriteCommand).callsFake(() => {
      objects.steps.push('transaction');
      return {};
    });

    expect(await repository().create(large)).toEqual({ outcome: 'created' });
    expect(objects.steps.toSorted()).toEqual(['put 0', 'put 1', 'put 2', 'transaction']);
    expect(objects.steps.at(-1)).toBe('transaction');
    const items = (tries()[0]?.TransactItems ?? []).map(({ Put }) => Put?.Item);
    expect(items.slice(2)).toEqual(
      [...objects.stored.keys()]
        .sort()
        .map((object, i) => ({ pk: 'DISPATCH#d1spatch', sk: `BATCH#000${i}`, object, count: i < 2 ? 1_000 : 500 })),
    );
  });

  it('is refused by a standing guard before the first object is stored', async () => {
    table
      .on(GetCommand)
      .resolves({})
      .on(GetCommand, { Key: guardKey })
      .resolves({ Item: { ...guardKey, dispatchId: 'earlier', adminId: 'admin-2', expiresAt: T0 / 1000 + 1 } });

    expect(await repository().create(guarded)).toEqual({
      outcome: 'guarded',
      by: { dispatchId: 'earlier', adminId: 'admin-2' },
    });
    expect({ steps: objects.steps, tries: tries() }).toEqual({ steps: [], tries: [] });
  });

  it('is not committed when an object cannot be stored', async () => {
    const unavailable = new Unavailable('the store of lists', 5);
    objects.begin = () => ({ put: () => Promise.reject(unavailable) });

    await expect(repository().create(large)).rejects.toBe(unavailable);
    expect(tries()).toEqual([]);
  });

  it('keeps its objects over the tries of the transaction, and another request stores its own', async () => {
    table.on(TransactWriteCommand).rejectsOnce(cancelled('TransactionConflict', 'None')).resolves({}).on(GetCommand).resolves({});

    await repository().create(large);
    expect(objects.stored.size).toBe(3);
    await repository().create(large);
    expect(objects.stored.size).toBe(6);
  });
});

describe('how long a client is asked to wait', () => {
  it.each([
    ['a conflict', cancelled('TransactionConflict', 'None'), 1],
    ['a throttled item', cancelled('None', 'ThrottlingError'), 5],
    ['an item beyond the throughput of its partition', cancelled('None', 'ProvisionedThroughputExceeded'), 5],
    ['a throttled call', sdkError('ThrottlingException', 400), 5],
    ['a lost answer', sdkError('TimeoutError'), 1],
  ])('after %s', async (_name, error, seconds) => {
    table.on(TransactWriteCommand).rejects(error).on(GetCommand).resolves({});

    await expect(repository().create(entry)).rejects.toMatchObject({ retryAfterSeconds: seconds });
  });

  it('after a throttled read', async () => {
    table.on(GetCommand).rejects(sdkError('ProvisionedThroughputExceededException', 400));

    await expect(repository().find('d1spatch')).rejects.toMatchObject({ retryAfterSeconds: 5 });
  });
});

describe('finding a dispatch', () => {
  it('reads consistently', async () => {
    table.on(GetCommand).resolves({ Item: stored() });

    expect(await repository().find('d1spatch')).toEqual(known);
    expect(table.commandCalls(GetCommand)[0]?.args[0].input).toEqual({
      TableName: 'mail',
      Key: { pk: 'DISPATCH#d1spatch', sk: 'DISPATCH' },
      ConsistentRead: true,
    });
  });

  it('may find none', async () => {
    table.on(GetCommand).resolves({});

    expect(await repository().find('d1spatch')).toBeUndefined();
  });

  it('may find one that was stored before there were fingerprints (A8)', async () => {
    const old: Record<string, unknown> = { ...stored() };
    delete old['fingerprint'];
    delete old['fieldHashes'];
    table.on(GetCommand).resolves({ Item: old });

    expect(await repository().find('d1spatch')).toEqual({ dispatch: entry.dispatch, fieldHashes: {} });
  });

  it.each([
    ['throttled', sdkError('ThrottlingException', 400)],
    ['out of order', sdkError('InternalServerError', 500)],
    ['unreachable', sdkError('TimeoutError')],
  ])('asks for patience while the table is %s', async (_name, error) => {
    table.on(GetCommand).rejects(error);

    await expect(repository().find('d1spatch')).rejects.toBeInstanceOf(Unavailable);
  });

  it('fails on an item no version of this code wrote', async () => {
    table.on(GetCommand).resolves({ Item: { ...stored(), status: 'DONE' } });

    await expect(repository().find('d1spatch')).rejects.toThrow();
  });
});
