import { randomBytes } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { layOut, tooLarge } from '../../../../../lambda/adapters/dynamo/dispatch-layout.ts';
import { parseRecipientItem } from '../../../../../lambda/adapters/dynamo/items.ts';
import { unpackBatch, unpackContent } from '../../../../../lambda/adapters/dynamo/packing.ts';
import { shardCount } from '../../../../../lambda/domain/shards.ts';
import { aNewDispatch, someAddressees } from '../../../../support/accept-builders.ts';
import { pending, rowCounts } from '../../../../support/builders.ts';

const itemsOf = (...args: Parameters<typeof aNewDispatch>) => {
  const layout = layOut(aNewDispatch(...args));
  if (!layout.ok) throw new Error(layout.limit);
  return layout.items;
};
const dataOf = (item: Record<string, unknown> | undefined): Uint8Array => {
  if (!(item?.['data'] instanceof Uint8Array)) throw new Error('no data');
  return item['data'];
};
const rowsOf = (items: readonly Record<string, unknown>[]) => items.slice(2);
const noise = (bytes: number): string => randomBytes(bytes).toString('base64');

describe('a new dispatch', () => {
  it('is an item with all that the indexes and later readers need', () => {
    const [dispatch] = itemsOf(someAddressees(2));

    expect(dispatch).toEqual({
      pk: 'DISPATCH#d1spatch',
      sk: 'DISPATCH',
      dispatchId: 'd1spatch',
      adminId: 'admin-1',
      scenarioId: 'interview',
      recruitId: '7',
      total: 2,
      shards: 1,
      isTest: false,
      status: 'ACCEPTED',
      generation: 0,
      createdAt: '2026-03-02T09:00:00.000Z',
      ...rowCounts({ PENDING: 2 }),
      fingerprint: 'v1:whole',
      fieldHashes: { subject: 'hash-of-subject' },
      adminKey: 'ADMIN#admin-1',
      openKey: 'OPEN',
      createdKey: '2026-03-02T09:00:00.000Z#d1spatch',
    });
  });

  it('has its content beside it, as it was at accept (S16)', () => {
    const entry = aNewDispatch(someAddressees(1));
    const layout = layOut(entry);

    const content = layout.ok ? layout.items[1] : undefined;
    expect(content).toMatchObject({ pk: 'DISPATCH#d1spatch', sk: 'CONTENT' });
    expect(unpackContent(dataOf(content))).toEqual(entry.content);
  });

  it.each([1, 96, 97])('of %d recipients has an item for each, pending and due (O6)', (n) => {
    const addressees = someAddressees(n);

    const rows = rowsOf(itemsOf(addressees));

    expect(rows.map((row) => parseRecipientItem(row))).toEqual(
      addressees.map((addressee) => ({ ...addressee, recipient: pending(), attempts: [], delivery: 'none', events: [] })),
    );
    expect(rows[0]).toMatchObject({ pk: 'DISPATCH#d1spatch#0', sk: 'RECIPIENT#a-0' });
  });

  it.each([98, 99, 100, 101, 1_000, 1_001, 50_000])('of %d recipients has them in batches, each once (O6)', (n) => {
    const addressees = someAddressees(n);

    const rows = rowsOf(itemsOf(addressees));

    expect(rows.length).toBeLessThanOrEqual(97);
    expect(rows.map(({ sk }) => sk)).toEqual(rows.map((_, i) => `BATCH#${String(i).padStart(4, '0')}`));
    expect(rows.flatMap((row) => unpackBatch(dataOf(row)))).toEqual(addressees);
    expect(rows.map(({ count }) => count)).toEqual(rows.map((row) => unpackBatch(dataOf(row)).length));
    expect(rows.every(({ count }) => Number(count) <= 1_000)).toBe(true);
  });

  it('cuts batches smaller when their recipients do not pack well', () => {
    const addressees = someAddressees(1_000, () => ({ note: noise(1_500) }));

    const rows = rowsOf(itemsOf(addressees));

    expect(rows.length).toBeGreaterThan(1);
    expect(rows.every((row) => dataOf(row).byteLength <= 350 * 1024)).toBe(true);
    expect(rows.flatMap((row) => unpackBatch(dataOf(row)))).toEqual(addressees);
  });

  it('spreads large dispatches over as many shards as they need', () => {
    expect(itemsOf(someAddressees(50_000))[0]).toMatchObject({ shards: shardCount(50_000) });
  });
});

describe('what is too large', () => {
  it('is a content of more than 350 KB packed', () => {
    expect(layOut(aNewDispatch(someAddressees(1), { text: noise(400 * 1024) }))).toEqual({ ok: false, limit: 'content' });
  });

  it('is a dispatch of more than 3.9 MB packed', () => {
    const addressees = someAddressees(3_000, () => ({ note: noise(1_500) }));

    expect(layOut(aNewDispatch(addressees))).toEqual({ ok: false, limit: 'recipients' });
  });

  it('can be told without storing anything', () => {
    expect(tooLarge(aNewDispatch(someAddressees(1), { text: noise(400 * 1024) }))).toBe('content');
    expect(tooLarge(aNewDispatch(someAddressees(1)))).toBeUndefined();
  });

  it('stays within a transaction of 4 MB and items of 400 KB, with everything at its limit', () => {
    const items = itemsOf(
      someAddressees(97, () => ({ note: noise(3_000) })),
      { text: noise(250 * 1024) },
    );

    const bytes = items.reduce(
      (sum, item) =>
        sum +
        JSON.stringify({ ...item, data: undefined }).length +
        (item['data'] instanceof Uint8Array ? item['data'].byteLength : 0),
      0,
    );
    expect(bytes).toBeLessThan(4 * 1024 * 1024);
    expect(items).toHaveLength(99);
  });
});
