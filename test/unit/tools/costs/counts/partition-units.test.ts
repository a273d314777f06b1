import { expect, it } from 'vitest';

import { heaviestPartition } from '../../../../../tools/costs/counts/partition-units.ts';

const put = (pk: string, bytes: number) => ({
  Put: { Item: { pk: { S: pk }, data: { B: Buffer.alloc(bytes).toString('base64') } } },
});

it('the heaviest partition of a transaction is counted by two units for each KB of an item that is begun', () => {
  // 2 + 1 + 4 bytes of names and key beside the data.
  const request = { TransactItems: [put('a', 1_017), put('b', 1_017), put('b', 1_018), { Update: { Key: {} } }] };

  expect(heaviestPartition(request)).toEqual({ partition: 'b', units: 6 });
});

it('counts text in UTF-8, and lists and maps with what is in them', () => {
  const item = { pk: { S: 'a' }, t: { S: '박'.repeat(300) }, l: { L: [{ M: { n: { S: 'x'.repeat(115) } } }, { BOOL: true }] } };

  // 3 (pk) + 901 (t) + 1 + 3 + (1 + 3 + 1 + 1 + 115) + (1 + 1) = 1,031
  expect(heaviestPartition({ TransactItems: [{ Put: { Item: item } }] })).toEqual({ partition: 'a', units: 4 });
});
