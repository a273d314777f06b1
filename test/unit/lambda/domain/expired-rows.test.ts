import fc from 'fast-check';
import { expect, it } from 'vitest';

import { countRows, type Counts, NO_COUNTS } from '../../../../lambda/domain/dispatch.ts';
import { withExpired } from '../../../../lambda/domain/expired-rows.ts';
import { isFinal, RECIPIENT_STATUSES, type RecipientStatus } from '../../../../lambda/domain/recipient.ts';

const count = (statuses: readonly RecipientStatus[]): Counts =>
  statuses.reduce<Counts>((sum, status) => ({ ...sum, [status]: sum[status] + 1 }), NO_COUNTS);

const finalStatus = fc.constantFrom(...RECIPIENT_STATUSES.filter(isFinal));
/** A row: as it was counted at the first end, what it became since, and whether it has expired; only an unchanged one has. */
const aRow = fc.record({
  atFirstEnd: finalStatus,
  since: fc.option(fc.constantFrom(...RECIPIENT_STATUSES), { nil: undefined }),
  isExpired: fc.boolean(),
});

it('recipients are counted exactly, whichever rows expired and whichever changed after the first end (V10)', () => {
  fc.assert(
    fc.property(fc.array(aRow, { minLength: 1, maxLength: 40 }), (rows) => {
      const present = rows.filter(({ isExpired, since }) => !isExpired || since !== undefined);
      const counts = withExpired(
        { total: rows.length, frozenCounts: count(rows.map(({ atFirstEnd }) => atFirstEnd)) },
        {
          counts: count(present.map(({ atFirstEnd, since }) => since ?? atFirstEnd)),
          frozen: count(present.map(({ atFirstEnd }) => atFirstEnd)),
        },
      );

      expect(counts).toEqual(count(rows.map(({ atFirstEnd, since }) => since ?? atFirstEnd)));
    }),
  );
});

it('recipients of a dispatch that never came to an end are counted by what progress kept', () => {
  const counts = { ...NO_COUNTS, PENDING: 2, SENT: 90, FAILED: 8 };

  expect(
    withExpired(
      { total: 100, counts },
      { counts: { ...NO_COUNTS, PENDING: 2, FAILED: 3 }, frozen: { ...NO_COUNTS, PENDING: 2, FAILED: 3 } },
    ),
  ).toEqual(counts);
});

it('recipients always add up to the total, also where kept counts have drifted', () => {
  const someCounts = fc.record(
    Object.fromEntries(RECIPIENT_STATUSES.map((status) => [status, fc.nat(50)])) as Record<RecipientStatus, fc.Arbitrary<number>>,
  );
  fc.assert(
    fc.property(fc.nat(200), someCounts, someCounts, (missing, kept, present) => {
      const total = countRows(present) + missing;

      expect(countRows(withExpired({ total, counts: kept }, { counts: present, frozen: present }))).toBe(total);
    }),
  );
});
