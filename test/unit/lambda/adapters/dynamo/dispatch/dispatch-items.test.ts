import { randomBytes } from 'node:crypto';

import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';

import { decodeBatch, decodeContent } from '../../../../../../lambda/adapters/dynamo/client/codec.ts';
import { itemBytes } from '../../../../../../lambda/adapters/dynamo/client/item-size.ts';
import { toItems, tooLarge } from '../../../../../../lambda/adapters/dynamo/dispatch/dispatch-items.ts';
import { storeObjects } from '../../../../../../lambda/adapters/dynamo/dispatch/store-objects.ts';
import { parseRecipientItem } from '../../../../../../lambda/adapters/dynamo/recipient/items.ts';
import { parseObjectKey } from '../../../../../../lambda/contracts/queue/object-key.ts';
import { shardCount } from '../../../../../../lambda/domain/dispatch/shards.ts';
import { unitsByPartition } from '../../../../../../lambda/domain/dispatch/write-units.ts';
import { aNewDispatch, someRecipientInputs } from '../../../../../support/accept-builders.ts';
import { pending, rowCounts } from '../../../../../support/builders.ts';
import { createFakeObjects, type FakeObjects } from '../../../../../support/fake-objects.ts';

let objects: FakeObjects;
beforeEach(() => {
  objects = createFakeObjects();
});

const toItemsOf = (...args: Parameters<typeof aNewDispatch>) => {
  const dispatchItems = toItems(aNewDispatch(...args));
  if (!dispatchItems.ok) throw new Error(dispatchItems.limit);
  return dispatchItems;
};
const itemsOf = (...args: Parameters<typeof aNewDispatch>) => storeObjects(objects, aNewDispatch(...args), toItemsOf(...args));
const dataOf = (item: Record<string, unknown> | undefined): Uint8Array => {
  if (!(item?.['data'] instanceof Uint8Array)) throw new Error('no data');
  return item['data'];
};
const rowsOf = (items: readonly Record<string, unknown>[]) => items.slice(2);
const recipientsOf = async (row: Record<string, unknown>) => {
  const bytes = await objects.read(String(row['object']));
  return typeof bytes === 'string' ? [] : decodeBatch(bytes);
};
const noise = (bytes: number): string => randomBytes(bytes).toString('base64');

describe('a new dispatch', () => {
  it('is an item with all that the indexes and later readers need', async () => {
    const [dispatch] = await itemsOf(someRecipientInputs(2));

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

  it('has its content beside it, as it was at accept (S16)', async () => {
    const [, content] = await itemsOf(someRecipientInputs(1));

    expect(content).toMatchObject({ pk: 'DISPATCH#d1spatch', sk: 'CONTENT' });
    expect(decodeContent(dataOf(content))).toEqual(aNewDispatch().content);
    expect(objects.steps).toEqual([]);
  });

  it('has content of more than 64 KB in an object that the item names', async () => {
    const html = noise(70 * 1024);
    const [, content] = await itemsOf(someRecipientInputs(1), { html });

    expect(content).toEqual({ pk: 'DISPATCH#d1spatch', sk: 'CONTENT', object: expect.any(String) as string });
    const bytes = await objects.read(String(content?.['object']));
    expect(typeof bytes === 'string' ? bytes : decodeContent(bytes).template.html).toBe(html);
  });

  it.each([1, 96, 97])('of %d recipients has an item for each, pending and due (O6)', async (n) => {
    const recipientInputs = someRecipientInputs(n);

    const rows = rowsOf(await itemsOf(recipientInputs));

    expect(rows.map((row) => parseRecipientItem(row))).toEqual(
      recipientInputs.map((recipientInput) => ({
        ...recipientInput,
        recipient: pending(),
        attempts: [],
        delivery: 'none',
        events: [],
      })),
    );
    expect(rows[0]).toMatchObject({ pk: 'DISPATCH#d1spatch#0', sk: 'RECIPIENT#a-0' });
  });

  it.each([98, 99, 100, 101, 1_000, 1_001, 50_000])('of %d recipients has them in objects, each once (O6)', async (n) => {
    const recipientInputs = someRecipientInputs(n);

    const rows = rowsOf(await itemsOf(recipientInputs));

    expect(rows.map(({ sk }) => sk)).toEqual(
      Array.from({ length: Math.ceil(n / 1_000) }, (_, i) => `BATCH#${String(i).padStart(4, '0')}`),
    );
    const stored = await Promise.all(rows.map(recipientsOf));
    expect(stored.flat()).toEqual(recipientInputs.toSorted((a, b) => (a.applyId < b.applyId ? -1 : 1)));
    expect(rows.map(({ count }) => count)).toEqual(stored.map(({ length }) => length));
  });

  it('stores the same bytes whatever the order of the recipients', async () => {
    const recipientInputs = someRecipientInputs(1_500, (i) => ({ name: `Kim ${i}`, day: 'Monday' }));

    await itemsOf(recipientInputs);
    await itemsOf(recipientInputs.toReversed());

    const checksums = [...objects.stored.keys()].map((key) => parseObjectKey(key)?.checksum);
    expect(new Set(checksums).size).toBe(2);
  });

  it('keeps the order of the names of variables, which a template may go through', async () => {
    const [row = {}] = rowsOf(await itemsOf(someRecipientInputs(98, () => ({ steps: { zeroth: 1, first: 2 } }))));

    const [recipient] = await recipientsOf(row);
    expect(JSON.stringify(recipient?.variables)).toBe('{"steps":{"zeroth":1,"first":2}}');
  });

  it('of few recipients has them in an object if their rows are too much for one partition', async () => {
    const recipientInputs = someRecipientInputs(97, () => ({ note: noise(1_500) }));

    const rows = rowsOf(await itemsOf(recipientInputs));

    expect(rows).toMatchObject([{ sk: 'BATCH#0000', count: 97 }]);
  });

  it('spreads large dispatches over as many shards as they need', () => {
    expect(toItemsOf(someRecipientInputs(50_000)).dispatch).toMatchObject({ shards: shardCount(50_000) });
  });
});

describe('what is too large', () => {
  it('is a content of more than 350 KB packed', () => {
    expect(toItems(aNewDispatch(someRecipientInputs(1), { text: noise(400 * 1024) }))).toEqual({ ok: false, limit: 'content' });
  });

  it('can be told without storing anything', () => {
    expect(tooLarge(aNewDispatch(someRecipientInputs(1), { text: noise(400 * 1024) }))).toBe('content');
    expect(tooLarge(aNewDispatch(someRecipientInputs(1)))).toBeUndefined();
  });
});

describe('what one accept writes', () => {
  const units = (items: readonly Record<string, unknown>[]): number[] => [
    ...unitsByPartition(items.map((item) => ({ partition: String(item['pk']), bytes: itemBytes(item) }))).values(),
  ];
  const wide = (bytes: number) => () => ({ note: randomBytes(bytes / 2).toString('hex') });

  it.each([
    [1, 4_000],
    [75, 1_200],
    [76, 1_200],
    [97, 0],
    [97, 800],
    [97, 4_000],
    [98, 4_000],
    [5_000, 450],
    [50_000, 450],
  ])('of %d recipients with %d bytes of variables is at most 300 write units for any partition', async (n, bytes) => {
    const items = await itemsOf(someRecipientInputs(n, wide(bytes)), { html: noise(45 * 1024) });

    expect(Math.max(...units(items))).toBeLessThanOrEqual(300);
    expect(items.length).toBeLessThanOrEqual(99);
  });

  it('is rows as long as their partition may take them', async () => {
    const kinds = async (bytes: number) => {
      const rows = rowsOf(await itemsOf(someRecipientInputs(50, wide(bytes))));
      return new Set(rows.map(({ sk }) => String(sk).split('#')[0]));
    };

    // 50 rows of up to 3 KB are 300 units.
    expect(await kinds(2_700)).toEqual(new Set(['RECIPIENT']));
    expect(await kinds(3_000)).toEqual(new Set(['BATCH']));
  });

  it('is at most 300 write units whatever the number of recipients and the sizes of variables and content', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 400 }), fc.nat({ max: 4_000 }), fc.nat({ max: 80 * 1024 }), async (n, own, html) => {
        const items = await itemsOf(someRecipientInputs(n + 1, wide(own)), { html: noise(html) });
        expect(Math.max(...units(items))).toBeLessThanOrEqual(300);
      }),
      { numRuns: 40 },
    );
  });
});
