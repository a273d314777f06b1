import fc from 'fast-check';
import { expect, it } from 'vitest';

import { countRows, type Counts, NO_COUNTS } from '../../../../../lambda/domain/dispatch/dispatch.ts';
import { withExpired } from '../../../../../lambda/domain/dispatch/expired-rows.ts';
import { applyFrozenChange, frozenChange } from '../../../../../lambda/domain/dispatch/frozen-counts.ts';
import { isFinal, RECIPIENT_STATUSES, type RecipientStatus } from '../../../../../lambda/domain/recipient/recipient.ts';

const count = (statuses: readonly RecipientStatus[]): Counts =>
  statuses.reduce<Counts>((sum, status) => ({ ...sum, [status]: sum[status] + 1 }), NO_COUNTS);

const finalStatus = fc.constantFrom(...RECIPIENT_STATUSES.filter(isFinal));
/** A row: as it was at the last end, what it was changed to or reopened for since, and whether it has expired. */
const aRow = fc.record({
  atEnd: finalStatus,
  changedTo: fc.option(finalStatus, { nil: undefined }),
  reopenedTo: fc.option(fc.constantFrom(...RECIPIENT_STATUSES), { nil: undefined }),
  isExpired: fc.boolean(),
});

it('recipients are counted exactly, whichever rows expired and whichever changed after the last end (V10)', () => {
  fc.assert(
    fc.property(fc.array(aRow, { minLength: 1, maxLength: 40 }), (rows) => {
      const end = { frozenGeneration: 3 };
      let frozenCounts = count(rows.map(({ atEnd }) => atEnd));
      for (const { atEnd, changedTo = atEnd, reopenedTo } of rows) {
        const moved = changedTo === atEnd ? undefined : frozenChange({ status: atEnd }, changedTo, end);
        if (moved) frozenCounts = applyFrozenChange(frozenCounts, moved);
        const left = reopenedTo && frozenChange({ status: changedTo }, 'PENDING', end);
        if (left) frozenCounts = applyFrozenChange(frozenCounts, left);
      }
      const now = rows.map(({ atEnd, changedTo = atEnd, reopenedTo, isExpired }) => ({
        status: reopenedTo ?? changedTo,
        isReopened: reopenedTo !== undefined,
        isPresent: !isExpired || (reopenedTo !== undefined && !isFinal(reopenedTo)),
      }));
      const present = now.filter(({ isPresent }) => isPresent);
      const all = count(now.map(({ status }) => status));

      const counts = withExpired(
        { total: rows.length, frozenCounts, ...end, counts: all },
        {
          counts: count(present.map(({ status }) => status)),
          frozen: count(present.filter(({ isReopened }) => !isReopened).map(({ status }) => status)),
        },
      );

      expect(counts).toEqual(all);
    }),
  );
});

it('recipients that were never expanded are not taken for expired ones, nor those for cancelled ones', () => {
  const counts = { ...NO_COUNTS, PENDING: 30, SENT: 60, FAILED: 8, CANCELLED: 2 };
  const present = { ...NO_COUNTS, FAILED: 8, CANCELLED: 2 };

  // A batch was expanded in part when it was removed, so more than 30 are noted.
  expect(withExpired({ total: 100, counts, unexpanded: 50 }, { counts: present, frozen: present })).toEqual({
    ...NO_COUNTS,
    SENT: 60,
    FAILED: 8,
    CANCELLED: 32,
  });
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
