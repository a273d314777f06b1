import fc from 'fast-check';
import { expect, it } from 'vitest';

import { itemBytes } from '../../../../../../lambda/adapters/dynamo/client/item-size.ts';
import { newRecipientItem } from '../../../../../../lambda/adapters/dynamo/recipient/items.ts';
import { heaviestPartition } from '../../../../../../tools/costs/counts/partition-units.ts';

/** As the table's client sends it. */
const sent = (item: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]): [string, object] => {
      if (typeof value === 'number') return [name, { N: String(value) }];
      return [name, Array.isArray(value) ? { L: [] } : { S: value }];
    }),
  );

it('is the names and values of an item in bytes', () => {
  // 2 + 1, 4 + 3, 1 + 2
  expect(itemBytes({ pk: 'a', name: '박', b: new Uint8Array(2) })).toBe(3 + 7 + 3);
});

it('is never less than what the door before the table counts', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.dictionary(fc.string(), fc.string()), (applyId, variables) => {
      const item = {
        pk: 'DISPATCH#d1#0',
        sk: `RECIPIENT#${applyId}`,
        ...newRecipientItem('kim@example.com', variables, 0),
      };
      const { units } = heaviestPartition({ TransactItems: [{ Put: { Item: sent(item) } }] });
      expect(2 * Math.ceil(itemBytes(item) / 1_024)).toBeGreaterThanOrEqual(units);
    }),
  );
});
