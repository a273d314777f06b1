import { addCounts, countRows, type Counts, type Dispatch, NO_COUNTS } from './dispatch.ts';
import { isFinal, RECIPIENT_STATUSES, type RecipientStatus } from './recipient.ts';

/** Rows that are still in the table: by their status now, and by the status with which they were counted at the first end. */
export interface PresentRows {
  readonly counts: Counts;
  readonly frozen: Counts;
}

/**
 * Counts all recipients of a dispatch of which some final rows were deleted after their retention. Such a row had the status
 * with which it was counted at the first end: what was counted then, without the rows that are present, is what is missing.
 * Rows of a dispatch that never came to an end are taken out of the counts kept by progress, which may be off by a few.
 */
export const withExpired = (
  { total, frozenCounts, counts: kept = NO_COUNTS }: Pick<Dispatch, 'total' | 'frozenCounts' | 'counts'>,
  { counts, frozen }: PresentRows,
): Counts => {
  const missing = total - countRows(counts);
  if (missing <= 0) return counts;
  const expired = frozenCounts === undefined ? difference(kept, counts) : difference(frozenCounts, frozen);
  return addCounts(counts, fitted(expired, missing));
};

const FINAL: readonly RecipientStatus[] = RECIPIENT_STATUSES.filter(isFinal);

const difference = (all: Counts, present: Counts): Counts =>
  FINAL.reduce<Counts>((sum, status) => ({ ...sum, [status]: Math.max(0, all[status] - present[status]) }), NO_COUNTS);

/** Exact counts fit already. Of others the largest are believed first. */
const fitted = (counts: Counts, missing: number): Counts => {
  const largestFirst = FINAL.toSorted((a, b) => counts[b] - counts[a]);
  let left = missing;
  let fit = NO_COUNTS;
  for (const status of largestFirst) {
    const taken = Math.min(left, counts[status]);
    fit = { ...fit, [status]: taken };
    left -= taken;
  }
  const [largest = 'SENT'] = largestFirst;
  return { ...fit, [largest]: fit[largest] + left };
};
