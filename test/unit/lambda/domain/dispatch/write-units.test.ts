import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  fitsPartitions,
  type SizedWrite,
  transactionUnits,
  unitsByPartition,
} from '../../../../../lambda/domain/dispatch/write-units.ts';

describe('write units of a transaction', () => {
  it.each([
    [0, 2],
    [1, 2],
    [1_024, 2],
    [1_025, 4],
    [4_096, 8],
  ])('of an item of %d bytes are %d: two for each KB that is begun', (bytes, units) => {
    expect(transactionUnits(bytes)).toBe(units);
  });

  it('are added up for each partition key alone', () => {
    const writes: SizedWrite[] = [
      { partition: 'a', bytes: 1 },
      { partition: 'b', bytes: 1_025 },
      { partition: 'a', bytes: 2_000 },
    ];

    expect(Object.fromEntries(unitsByPartition(writes))).toEqual({ a: 6, b: 4 });
  });

  const Write = fc.record({ partition: fc.constantFrom('a', 'b', 'c'), bytes: fc.nat({ max: 8_000 }) });

  it('fit exactly if no partition key gets more than 300', () => {
    fc.assert(
      fc.property(fc.array(Write, { maxLength: 200 }), (writes) => {
        const most = Math.max(
          0,
          ...['a', 'b', 'c'].map((key) =>
            writes.filter(({ partition }) => partition === key).reduce((sum, { bytes }) => sum + transactionUnits(bytes), 0),
          ),
        );
        expect(fitsPartitions(writes)).toBe(most <= 300);
      }),
    );
  });
});
