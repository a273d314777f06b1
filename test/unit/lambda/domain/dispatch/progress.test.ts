import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { countsAtAccept, NO_COUNTS, NO_DELIVERIES, type RowCounts } from '../../../../../lambda/domain/dispatch/dispatch.ts';
import {
  addRowCounts,
  changesCounts,
  changesDeliveries,
  type Counted,
  deltaOf,
  isOfAttempt,
  NO_CHANGE,
} from '../../../../../lambda/domain/dispatch/progress.ts';
import { DELIVERY_STATES } from '../../../../../lambda/domain/recipient/delivery.ts';
import { RECIPIENT_STATUSES } from '../../../../../lambda/domain/recipient/recipient.ts';
import { someCounts, someDeliveries } from '../../../../support/builders.ts';

interface Change {
  readonly before: Counted;
  readonly after: Counted;
}

const NEW: Counted = { status: 'PENDING', delivery: 'none' };

/** The states that one recipient goes through, whatever they are: counting knows no rules. */
const aLife = fc.array(
  fc.record({ status: fc.constantFrom(...RECIPIENT_STATUSES), delivery: fc.constantFrom(...DELIVERY_STATES) }),
  { maxLength: 6 },
);
const someLives = fc.array(aLife, { minLength: 1, maxLength: 8 });

const changesOf = (life: readonly Counted[]): Change[] => life.map((after, i) => ({ before: life[i - 1] ?? NEW, after }));

const recountOf = (lives: readonly (readonly Counted[])[]): RowCounts => {
  const counts = { ...NO_COUNTS };
  const deliveries = { ...NO_DELIVERIES };
  for (const life of lives) {
    const { status, delivery } = life.at(-1) ?? NEW;
    counts[status] += 1;
    if (delivery !== 'none') deliveries[delivery] += 1;
  }
  return { counts, deliveries };
};

const sumOf = (changes: readonly Change[]): RowCounts =>
  changes.reduce((sum, { before, after }) => addRowCounts(sum, deltaOf(before, after)), NO_CHANGE);

/** Cuts a list at the given places. */
const cutAt = <T>(list: readonly T[], places: readonly number[]): T[][] => {
  const cuts = [0, ...places.map((n) => n % (list.length + 1)).sort((a, b) => a - b), list.length];
  return cuts.slice(1).map((to, i) => list.slice(cuts[i], to));
};

describe('what changes of recipients add to the counts of their dispatch', () => {
  it('comes to what their rows are in the end, in any order and in batches of any size', () => {
    const someOrder = fc.array(fc.nat(), { minLength: 48, maxLength: 48 });
    fc.assert(
      fc.property(someLives, fc.array(fc.nat(), { maxLength: 5 }), someOrder, (lives, places, order) => {
        const changes = lives.flatMap(changesOf);
        const inAnyOrder = [...changes.entries()]
          .toSorted(([a], [b]) => (order[a] ?? 0) - (order[b] ?? 0))
          .map(([, change]) => change);

        const batches = cutAt(inAnyOrder, places).map(sumOf);

        expect(batches.reduce(addRowCounts, countsAtAccept(lives.length))).toEqual(recountOf(lives));
      }),
    );
  });

  it('drifts by exactly what came twice, however much that is', () => {
    fc.assert(
      fc.property(someLives, fc.nat(), (lives, n) => {
        const changes = lives.flatMap(changesOf);
        const again = changes.slice(n % (changes.length + 1));

        const drifted = addRowCounts(countsAtAccept(lives.length), sumOf([...changes, ...again]));

        expect(drifted).toEqual(addRowCounts(recountOf(lives), sumOf(again)));
      }),
    );
  });

  it.each<[string, Counted | undefined, Counted | undefined, Partial<RowCounts>]>([
    ['nothing for a new row, which was counted at accept', undefined, NEW, {}],
    ['nothing for a row that expires or is erased', { status: 'SENT', delivery: 'bounced' }, undefined, {}],
    ['a claim', NEW, { status: 'PROCESSING', delivery: 'none' }, { counts: someCounts({ PENDING: -1, PROCESSING: 1 }) }],
    [
      'a mail that was delivered, and then complained about',
      { status: 'SENT', delivery: 'delivered' },
      { status: 'SENT', delivery: 'complained' },
      { deliveries: someDeliveries({ delivered: -1, complained: 1 }) },
    ],
    [
      'an event that settles what nobody knew',
      { status: 'UNKNOWN', delivery: 'none' },
      { status: 'SENT', delivery: 'bounced' },
      { counts: someCounts({ UNKNOWN: -1, SENT: 1 }), deliveries: someDeliveries({ bounced: 1 }) },
    ],
  ])('is %s', (_name, before, after, expected) => {
    const delta = deltaOf(before, after);

    expect(delta).toEqual({ ...NO_CHANGE, ...expected });
    expect(changesCounts(delta)).toBe(expected.counts !== undefined);
    expect(changesDeliveries(delta)).toBe(expected.deliveries !== undefined);
  });
});

it.each<[string, Counted, Counted, boolean]>([
  ['a claim', NEW, { status: 'PROCESSING', delivery: 'none' }, true],
  ['an answer', { status: 'PROCESSING', delivery: 'none' }, { status: 'SENT', delivery: 'none' }, true],
  ['a cancelled recipient', NEW, { status: 'CANCELLED', delivery: 'none' }, false],
  ['a late event', { status: 'SENT', delivery: 'none' }, { status: 'SENT', delivery: 'delivered' }, false],
])('%s may tell of an attempt', (_name, before, after, expected) => {
  expect(isOfAttempt(before, after)).toBe(expected);
});
