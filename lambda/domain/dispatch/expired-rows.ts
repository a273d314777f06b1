import { isFinal, RECIPIENT_STATUSES, type RecipientStatus } from '../recipient/recipient.ts';
import { addCounts, countRows, type Counts, type Dispatch, NO_COUNTS, withUnexpanded } from './dispatch.ts';

/** Rows that are still in the table, by their status. */
export interface PresentRows {
  readonly counts: Counts;
  /** Those of them that were not reopened since the last end. */
  readonly frozen: Counts;
}

type Counted = Pick<Dispatch, 'total' | 'frozenCounts' | 'frozenGeneration' | 'counts' | 'unexpanded'>;

/**
 * Expired rows, as far as it is known what they were. Rows that were not reopened since the last end are in its counts; without
 * the present ones, the expired ones are left. Other rows can only have expired in a dispatch that was open for longer than the
 * retention: they are taken from the counts that progress keeps.
 */
export const knownExpired = (dispatch: Counted, { counts, frozen }: PresentRows): Counts => {
  const { total, frozenCounts, counts: kept = NO_COUNTS } = dispatch;
  const missing = total - countRows(counts);
  if (missing <= 0) return NO_COUNTS;
  const exact = frozenCounts !== undefined && hasEnded(dispatch) ? capped(difference(frozenCounts, frozen), missing) : NO_COUNTS;
  return addCounts(exact, capped(difference(difference(kept, counts), exact), missing - countRows(exact)));
};

/** Counts all recipients of a dispatch without batches, of which some final rows were deleted after their retention. */
export const withExpired = (dispatch: Counted, present: PresentRows): Counts => {
  const known = knownExpired(dispatch, present);
  const sum = addCounts(present.counts, known);
  // The counts of an end hold recipients that never had a row as CANCELLED.
  const all = hasEnded(dispatch) ? sum : withUnexpanded(dispatch, sum);
  const [largest = 'SENT'] = largestFirst(known);
  // What is left says that the counts of progress are too low.
  return { ...all, [largest]: all[largest] + Math.max(0, dispatch.total - countRows(all)) };
};

const hasEnded = ({ frozenGeneration }: Counted): boolean => frozenGeneration !== undefined;

const FINAL: readonly RecipientStatus[] = RECIPIENT_STATUSES.filter(isFinal);

const difference = (all: Counts, present: Counts): Counts =>
  FINAL.reduce<Counts>((sum, status) => ({ ...sum, [status]: Math.max(0, all[status] - present[status]) }), NO_COUNTS);

const largestFirst = (counts: Counts): readonly RecipientStatus[] => FINAL.toSorted((a, b) => counts[b] - counts[a]);

/** No more than there are. Exact counts fit already; of others the largest are believed first. */
const capped = (counts: Counts, atMost: number): Counts => {
  let left = atMost;
  let fit = NO_COUNTS;
  for (const status of largestFirst(counts)) {
    const taken = Math.min(left, counts[status]);
    fit = { ...fit, [status]: taken };
    left -= taken;
  }
  return fit;
};
