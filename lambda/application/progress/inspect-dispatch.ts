import { countRows, type Dispatch, isComplete, withUnexpanded } from '../../domain/dispatch/dispatch.ts';
import { withExpired } from '../../domain/dispatch/expired-rows.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { EndingRepository, RowsSeen } from '../ports/progress.ts';
import type { PendingBatch } from '../ports/queues.ts';

/** What is left of a dispatch. */
export interface Inspected {
  readonly batches: readonly PendingBatch[];
  readonly seen: RowsSeen;
}

/** Reads in this order: the generation came with the dispatch, then batches, then rows. Otherwise a completion could be wrong. */
export const inspectDispatch = async (
  dispatches: EndingRepository,
  dispatch: Dispatch,
  now: Instant,
  hasTime: () => boolean = () => true,
): Promise<Inspected> => {
  const batches = await dispatches.batches(dispatch.dispatchId);
  const seen = await dispatches.rows(dispatch, now, hasTime);
  // Without a batch all rows were there once: one that is missing has expired, and so has what was known of its delivery, or was
  // never expanded.
  const { frozen } = seen;
  if (batches.length > 0 || frozen === undefined || countRows(seen.counts) >= dispatch.total)
    return { batches, seen: { ...seen, counts: withUnexpanded(dispatch, seen.counts) } };
  const { deliveries = seen.deliveries } = dispatch;
  return { batches, seen: { ...seen, counts: withExpired(dispatch, { counts: seen.counts, frozen }), deliveries } };
};

/** Whether every recipient has a row, and all rows are final. */
export const isOver = ({ total }: Dispatch, { batches, seen }: Inspected): boolean =>
  batches.length === 0 && isComplete(total, seen.counts);

/** Whether no row of it has expired: one that is gone looks like one that is not expanded yet. */
export const isWhole = ({ total }: Dispatch, { batches, seen }: Inspected): boolean =>
  countRows(seen.counts) + batches.reduce((sum, { count }) => sum + count, 0) >= total;

/** Ends a dispatch if its rows say so; undefined: they do not, or somebody changed it since it was read. */
export const finishIfDone = async (
  dispatches: EndingRepository,
  dispatch: Dispatch,
  looked: Inspected,
  now: Instant,
): Promise<'completed' | 'closed' | undefined> => {
  if (!isOver(dispatch, looked)) return undefined;
  switch (dispatch.status) {
    case 'ACCEPTED':
    case 'IN_PROGRESS':
      return (await dispatches.complete(dispatch, looked.seen, now)) ? 'completed' : undefined;
    case 'CANCELLED':
      return (await dispatches.close(dispatch, looked.seen, now)) ? 'closed' : undefined;
    case 'COMPLETED':
    case 'STOPPED':
      // The one is at its end; the other stays as it is until a person has looked, whatever its rows say.
      return undefined;
  }
};
