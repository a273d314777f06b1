import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { encodeContent } from '../../../../../../lambda/adapters/dynamo/client/codec.ts';
import { createContentRepository } from '../../../../../../lambda/adapters/dynamo/dispatch/content-repository.ts';
import { Unavailable } from '../../../../../../lambda/application/ports/errors.ts';
import { aContent } from '../../../../../support/builders.ts';
import { createFakeClock, T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';
import { createFakeObjects } from '../../../../../support/fake-objects.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const content = aContent({ subject: 'Hello {{name}}', variables: { firm: '주식회사' }, replyTo: 'hr@example.org' });
const holds = (sk: string, Item: Record<string, unknown>, dispatchId = 'd1') =>
  dynamo
    .on(GetCommand, { TableName: 'mail', Key: { pk: `DISPATCH#${dispatchId}`, sk }, ConsistentRead: true })
    .resolves({ Item });

let objects = createFakeObjects();
const repository = (clock = createFakeClock()) =>
  createContentRepository({ client: documentClient(), tableName: 'mail', objects, clock: clock.now });

beforeEach(() => {
  dynamo.reset();
  objects = createFakeObjects();
  dynamo.on(GetCommand).resolves({});
});

describe('the content of a dispatch', () => {
  it('is what was stored at accept (S16)', async () => {
    holds('CONTENT', { data: encodeContent(content) });

    expect(await repository().find('d1')).toEqual(content);
  });

  it('is read once, since it never changes', async () => {
    holds('CONTENT', { data: encodeContent(content) });
    const contents = repository();

    await contents.find('d1');
    await contents.find('d1');

    expect(dynamo.commandCalls(GetCommand)).toHaveLength(1);
  });

  it('of twenty dispatches stays in memory, and the oldest goes', async () => {
    for (let i = 0; i <= 20; i += 1) holds('CONTENT', { data: encodeContent(content) }, `d${i}`);
    const contents = repository();
    for (let i = 0; i <= 20; i += 1) await contents.find(`d${i}`);

    await contents.find('d20');
    expect(dynamo.commandCalls(GetCommand)).toHaveLength(21);
    await contents.find('d0');
    expect(dynamo.commandCalls(GetCommand)).toHaveLength(22);
  });

  it('is expired by its own timestamp, days before it is deleted', async () => {
    holds('CONTENT', { data: encodeContent(content), expiresAt: T0 / 1000 });
    holds('DISPATCH', { dispatchId: 'd1' });

    expect(await repository().find('d1')).toBe('expired');
  });

  it('is there until its timestamp', async () => {
    holds('CONTENT', { data: encodeContent(content), expiresAt: T0 / 1000 + 1 });

    expect(await repository().find('d1')).toEqual(content);
  });

  it('is expired when it is gone and its dispatch is known', async () => {
    holds('DISPATCH', { dispatchId: 'd1' });

    expect(await repository().find('d1')).toBe('expired');
  });

  it('belongs to no dispatch when neither is there (Q2)', async () => {
    expect(await repository().find('d1')).toBe('unknown-dispatch');
  });

  it('is unavailable while the table does not answer, and asked for again', async () => {
    dynamo
      .on(GetCommand)
      .rejectsOnce(sdkError('TimeoutError'))
      .resolves({ Item: { data: encodeContent(content) } });
    const contents = repository();

    expect(await contents.find('d1')).toBe('unavailable');
    expect(await contents.find('d1')).toEqual(content);
  });

  it.each<[string, Record<string, unknown>]>([
    ['an item of another shape', { data: 'text' }],
    ['bytes that are no gzip', { data: new Uint8Array([1, 2, 3]) }],
  ])('is broken when it is %s', async (_name, item) => {
    holds('CONTENT', item);

    expect(await repository().find('d1')).toBe('broken');
  });

  it('fails when permission is missing', async () => {
    dynamo.on(GetCommand).rejects(sdkError('AccessDeniedException', 400));

    await expect(repository().find('d1')).rejects.toThrow('AccessDeniedException');
  });
});

describe('content in an object', () => {
  const store = () => objects.begin('d1').put('content', encodeContent(content));

  it('is read from there, and stays in memory (V31)', async () => {
    holds('CONTENT', { object: await store() });
    const contents = repository();

    expect(await contents.find('d1')).toEqual(content);
    objects.stored.clear();
    expect(await contents.find('d1')).toEqual(content);
  });

  it('is unreadable when the object is gone', async () => {
    const object = await store();
    holds('CONTENT', { object });
    objects.stored.clear();

    expect(await repository().find('d1')).toEqual({ unreadable: object });
  });

  it('is unreadable when the object holds something else', async () => {
    const object = await store();
    holds('CONTENT', { object });
    objects.stored.set(object, { body: encodeContent(aContent({ subject: 'Another' })), storedAt: T0 });

    expect(await repository().find('d1')).toEqual({ unreadable: object });
  });

  it('is unavailable while the store does not answer: that says nothing about the object', async () => {
    holds('CONTENT', { object: await store() });
    objects.read = () => Promise.reject(new Unavailable('the store of lists', 5));

    expect(await repository().find('d1')).toBe('unavailable');
  });

  it('is expired by the time of its item, though the object is there', async () => {
    holds('CONTENT', { object: await store(), expiresAt: T0 / 1000 });
    holds('DISPATCH', { dispatchId: 'd1' });

    expect(await repository().find('d1')).toBe('expired');
  });

  const stop = () => repository().stopUnreadable('d1', { unreadable: 'k' }, T0);
  const cancelledFor = (...codes: string[]) =>
    new TransactionCanceledException({ message: '', $metadata: {}, CancellationReasons: codes.map((Code) => ({ Code })) });

  it('stops its dispatch in one transaction with a check that the item names the object', async () => {
    dynamo.on(TransactWriteCommand).resolves({});

    expect(await stop()).toBe(true);
    expect(dynamo.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems).toMatchObject([
      { ConditionCheck: { Key: { pk: 'DISPATCH#d1', sk: 'CONTENT' }, ExpressionAttributeValues: { ':object': 'k' } } },
      { Update: { Key: { pk: 'DISPATCH#d1', sk: 'DISPATCH' }, ExpressionAttributeValues: { ':reason': 'content-unreadable' } } },
    ]);
  });

  it.each([
    ['the item names it no more', cancelledFor('ConditionalCheckFailed', 'None')],
    ['the dispatch is not being sent', cancelledFor('None', 'ConditionalCheckFailed')],
  ])('stops nothing when %s', async (_name, error) => {
    dynamo.on(TransactWriteCommand).rejects(error);

    expect(await stop()).toBe(false);
  });

  it('asks for patience when the transaction meets another', async () => {
    dynamo.on(TransactWriteCommand).rejects(cancelledFor('None', 'TransactionConflict'));

    await expect(stop()).rejects.toBeInstanceOf(Unavailable);
  });
});
