import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { createUnclearLedger, ledgerKey } from '../../lambda/adapters/dynamo/recipient/unclear-ledger.ts';
import { createWalkRepository } from '../../lambda/adapters/dynamo/recipient/walk-repository.ts';
import type { UnclearLedger, WalkRepository } from '../../lambda/application/ports/control.ts';
import type { UnclearAttempt } from '../../lambda/domain/recipient/unclear.ts';
import { aKey } from '../support/builders.ts';
import { startTable, type TestTable } from '../support/table.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
let table: TestTable;
let ledger: UnclearLedger;
let walks: WalkRepository;

beforeAll(async () => {
  table = await startTable();
  ledger = createUnclearLedger(table.client, table.tableName);
  walks = createWalkRepository(table.client, table.tableName);
});
afterAll(() => table.stop());
beforeEach(async () => {
  for (const attempt of await due(NOW + 86_400_000)) await ledger.remove(attempt);
});

const anUnclear = (i: number, attempt: Partial<UnclearAttempt> = {}): UnclearAttempt => ({
  key: aKey(`a-${i}`),
  lease: `lease-${i}`,
  dueAt: NOW,
  ...attempt,
});
const due = async (now: number, after?: string): Promise<UnclearAttempt[]> => {
  const found: UnclearAttempt[] = [];
  for await (const { items } of ledger.due(now, after)) found.push(...items);
  return found;
};
const names = (attempts: readonly UnclearAttempt[]): string[] => attempts.map(({ lease }) => lease).toSorted();

describe('in the table, the ledger of unclear attempts', () => {
  it('holds an attempt once, however often and by however many it is noted', async () => {
    const noted = anUnclear(1, { notedAt: 12.5, silentAt: NOW + 1 });
    await ledger.add([anUnclear(1)]);
    await ledger.note(noted);

    const stands = await Promise.all(Array.from({ length: 20 }, () => ledger.add([anUnclear(1)])));

    expect(stands.flat()).toEqual(new Array(20).fill(true));
    expect(await due(NOW)).toEqual([noted]);
    expect(await ledger.size()).toBe(1);
  });

  it('tells those whose lease is over, to the millisecond, of any shard', async () => {
    const attempts = Array.from({ length: 60 }, (_, i) => anUnclear(i, { dueAt: NOW + (i % 2) }));
    await ledger.add(attempts);

    expect(names(await due(NOW))).toEqual(names(attempts.filter((_, i) => i % 2 === 0)));
    expect(names(await due(NOW + 1))).toEqual(names(attempts));
    expect(await ledger.size()).toBe(60);
  });

  it('spreads attempts over partitions', () => {
    const partitions = new Set(Array.from({ length: 200 }, (_, i) => ledgerKey(anUnclear(i)).pk));

    expect(partitions).toEqual(new Set(Array.from({ length: 8 }, (_, k) => `UNCLEAR#${k}`)));
  });

  it('goes on where a walk ended, and leaves none out', async () => {
    const attempts = Array.from({ length: 450 }, (_, i) => anUnclear(i, { key: { ...aKey('same'), dispatchId: `d-${i % 2}` } }));
    await ledger.add(attempts);
    const first: UnclearAttempt[] = [];
    let position: string | undefined;
    for await (const page of ledger.due(NOW, undefined)) {
      first.push(...page.items);
      position = page.position;
      if (first.length > 0) break;
    }

    const rest = await due(NOW, position);

    expect(rest.length).toBeGreaterThan(0);
    expect(names([...first, ...rest])).toEqual(names(attempts));
  });

  it('ends a walk after any 25, and goes on there', async () => {
    const attempts = Array.from({ length: 300 }, (_, i) => anUnclear(i, { key: { ...aKey('same'), dispatchId: 'd' } }));
    await ledger.add(attempts);
    const found: UnclearAttempt[] = [];
    let position: string | undefined;

    // Each walk has time for one page.
    for (let walks = 0; walks < 100 && found.length < attempts.length; walks += 1) {
      for await (const page of ledger.due(NOW, position)) {
        expect(page.items.length).toBeLessThanOrEqual(25);
        found.push(...page.items);
        position = page.position;
        if (page.items.length > 0) break;
      }
    }

    expect(names(found)).toEqual(names(attempts));
  });

  it('counts an item that no version of this code wrote, and an attempt whose notes cannot be read waits anew', async () => {
    await ledger.add([anUnclear(1), anUnclear(2)]);
    const set = (attempt: UnclearAttempt, name: string, value: unknown) =>
      table.client.send(
        new UpdateCommand({
          TableName: table.tableName,
          Key: ledgerKey(attempt),
          UpdateExpression: 'SET #name = :value',
          ExpressionAttributeNames: { '#name': name },
          ExpressionAttributeValues: { ':value': value },
        }),
      );
    await set(anUnclear(1), 'shard', 'none');
    await set(anUnclear(2), 'silentAt', 7);
    await set(anUnclear(2), 'notedAt', 'long ago');
    const odd = { pk: 'UNCLEAR#3', sk: '2026-02#odd' };
    await table.client.send(new PutCommand({ TableName: table.tableName, Item: odd }));
    let unreadable = 0;
    const found: UnclearAttempt[] = [];

    for await (const page of ledger.due(NOW, undefined)) {
      unreadable += page.unreadable;
      found.push(...page.items);
    }

    expect({ unreadable, found }).toEqual({ unreadable: 2, found: [anUnclear(2)] });
    expect(await ledger.size()).toBe(3);
    // Whoever meets the row again corrects its item.
    await ledger.add([anUnclear(1)]);
    expect(names(await due(NOW))).toEqual(['lease-1', 'lease-2']);
    await table.client.send(new DeleteCommand({ TableName: table.tableName, Key: odd }));
  });

  it('remembers until when a row that cannot be read is left alone', async () => {
    await ledger.add([anUnclear(1)]);

    await ledger.note(anUnclear(1, { retryAt: NOW + 900_000 }));

    expect(await due(NOW)).toEqual([anUnclear(1, { retryAt: NOW + 900_000 })]);
  });

  it('keeps applyIds with any sign in them apart', async () => {
    const keys = ['#', 'a#b', '한글', '$', '~'].map((applyId) => aKey(applyId));
    const attempts = keys.map((key, i) => anUnclear(i, { key }));
    await ledger.add(attempts);

    expect((await due(NOW)).map(({ key }) => key.applyId).toSorted()).toEqual(keys.map(({ applyId }) => applyId).toSorted());
  });

  it('does not bring back what a walk removed', async () => {
    await ledger.add([anUnclear(1)]);
    await ledger.remove(anUnclear(1));

    await ledger.note(anUnclear(1, { notedAt: 1 }));

    expect(await due(NOW)).toEqual([]);
    expect(await ledger.size()).toBe(0);
  });
});

describe('in the table, the item of the walks', () => {
  it('moves its clock once, whoever comes first', async () => {
    const was = await walks.read();
    const next = { seconds: 60.5, movedAt: NOW, canaries: [{ sentAt: NOW - 1, clock: 12 }] };

    const moved = await Promise.all(Array.from({ length: 10 }, () => walks.moveClock(next, was)));

    expect(moved.filter(Boolean)).toHaveLength(1);
    expect(await walks.read()).toEqual(next);
    expect(await walks.moveClock({ ...next, seconds: 120, movedAt: NOW + 1 }, next)).toBe(true);
  });

  it('lets one of twenty book the next canary', async () => {
    const booked = await Promise.all(Array.from({ length: 20 }, () => walks.bookCanary(NOW, 60)));

    expect(booked.filter(Boolean)).toHaveLength(1);
    expect(await walks.bookCanary(NOW + 59_999, 60)).toBe(false);
    expect(await walks.bookCanary(NOW + 60_000, 60)).toBe(true);
  });

  it('keeps where a walk ran out of time, until one reaches the end', async () => {
    await walks.keepPosition('3/2026-03-01T12:00:00.000Z#d#0#a#l');
    expect(await walks.read()).toMatchObject({ position: '3/2026-03-01T12:00:00.000Z#d#0#a#l' });

    await walks.keepPosition(undefined);
    expect(await walks.read()).not.toHaveProperty('position');
  });

  it('remembers canaries beside the rest', async () => {
    await walks.keepCanaries([{ sentAt: NOW, clock: 1.5 }]);

    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.tableName, Key: { pk: 'CONTROL', sk: 'UNCLEAR' } }),
    );
    expect(Item).toMatchObject({ canaries: [{ sentAt: '2026-03-01T12:00:00.000Z', clock: 1.5 }], seconds: 120 });
  });
});
