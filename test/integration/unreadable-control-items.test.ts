import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { controlKey } from '../../lambda/adapters/dynamo/client/keys.ts';
import { createFeedbackRepository } from '../../lambda/adapters/dynamo/control/feedback-repository.ts';
import { createSendingRepository } from '../../lambda/adapters/dynamo/control/sending-repository.ts';
import { createWalkRepository } from '../../lambda/adapters/dynamo/recipient/walk-repository.ts';
import { createOrphanRepository } from '../../lambda/adapters/dynamo/task/orphan-repository.ts';
import { T0 } from '../support/clock.ts';
import { startTable, type TestTable } from '../support/table.ts';

let table: TestTable;
beforeAll(async () => {
  table = await startTable();
});
afterAll(() => table.stop());

/** Of another type than any version of this code writes, and a word that sorts after every instant. */
const DAMAGES = [7, 'yesterday', { at: 'noon' }] as const;

const damage = (name: Parameters<typeof controlKey>[0], attributes: Readonly<Record<string, unknown>>) =>
  table.client.send(new PutCommand({ TableName: table.tableName, Item: { ...controlKey(name), ...attributes } }));
const stored = async (name: Parameters<typeof controlKey>[0]) =>
  (await table.client.send(new GetCommand({ TableName: table.tableName, Key: controlKey(name), ConsistentRead: true }))).Item;

describe('the item SENDING that cannot be read', () => {
  it('says that nothing may be sent, and stays for a person: it may be an operator’s pause', async () => {
    const sending = createSendingRepository(table.client, table.tableName);
    await damage('SENDING', { version: 'none' });

    expect(await sending.read()).toBe('unavailable');
    expect(await stored('SENDING')).toMatchObject({ version: 'none' });
  });
});

describe.each(DAMAGES)('with %j in place of an instant', (odd) => {
  it('the item FEEDBACK lets nothing be concluded from silence until an event moves the watermark', async () => {
    const feedback = createFeedbackRepository(table.client, table.tableName);
    await damage('FEEDBACK', { watermark: odd, unapplied: {} });
    expect(await feedback.read()).toBe('unavailable');

    // An event that fails meanwhile is kept all the same.
    expect(await feedback.addUnapplied([{ lease: 'l-1', sentAt: T0 }], T0)).toBe(true);
    await feedback.moveWatermark(T0);
    await feedback.moveWatermark(T0 - 10 * 86_400_000);

    expect(await feedback.read()).toEqual({ watermark: T0, unapplied: [{ lease: 'l-1', sentAt: T0 }] });
  });

  it('the item UNCLEAR begins a new clock, which walks move once at a time', async () => {
    const walks = createWalkRepository(table.client, table.tableName);
    await damage('UNCLEAR', { seconds: 'long', movedAt: odd, canaries: odd, position: 9, canaryBookedAt: odd });
    const was = await walks.read();
    expect(was).toEqual({ seconds: 0, canaries: [] });

    const next = { seconds: 0, movedAt: T0, canaries: [] };
    const moved = await Promise.all(Array.from({ length: 5 }, () => walks.moveClock(next, was)));
    expect(moved.filter(Boolean)).toHaveLength(1);
    expect(await walks.read()).toMatchObject({ seconds: 0, movedAt: T0 });
    expect([await walks.bookCanary(T0, 60), await walks.bookCanary(T0 + 59_999, 60)]).toEqual([true, false]);
  });

  it('the item LISTS begins a new search', async () => {
    const orphans = createOrphanRepository(table.client, table.tableName);
    await damage('LISTS', { lastAt: odd, cursor: 7, batchesOverdue: 'many' });
    expect(await orphans.search()).toEqual({});

    await orphans.advance({ lastAt: T0, cursor: 'k', batchesOverdue: 3 });
    expect(await orphans.search()).toEqual({ lastAt: T0, cursor: 'k', batchesOverdue: 3 });
    await orphans.advance({ lastAt: T0 });
    expect(await orphans.search()).toEqual({ lastAt: T0 });
  });
});

describe('unapplied events that cannot be read', () => {
  it('keep anything from being concluded from silence, stay for a person, and fail no batch of events', async () => {
    const feedback = createFeedbackRepository(table.client, table.tableName);
    await damage('FEEDBACK', { unapplied: { lease: 7 } });

    expect(await feedback.read()).toBe('unavailable');
    expect(await feedback.addUnapplied([{ lease: 'l-1', sentAt: T0 }], T0)).toBe(false);
    expect(await stored('FEEDBACK')).toMatchObject({ unapplied: { lease: 7 } });
  });
});

it('an item that names no object as text keeps the objects of its dispatch', async () => {
  const orphans = createOrphanRepository(table.client, table.tableName);
  const put = (sk: string, object: unknown) =>
    table.client.send(new PutCommand({ TableName: table.tableName, Item: { pk: 'DISPATCH#d1', sk, object } }));
  await put('BATCH#0000', 't/d1/x/0-a');
  await put('CONTENT', 't/d1/x/content-a');
  expect(await orphans.namedObjects('d1', 'batch')).toEqual(new Set(['t/d1/x/0-a']));
  expect(await orphans.namedObjects('d1', 'content')).toEqual(new Set(['t/d1/x/content-a']));
  expect(await orphans.namedObjects('d2', 'content')).toEqual(new Set());

  await put('BATCH#0001', 7);
  await put('CONTENT', 7);

  expect(await orphans.namedObjects('d1', 'batch')).toBe('unreadable');
  expect(await orphans.namedObjects('d1', 'content')).toBe('unreadable');
});
