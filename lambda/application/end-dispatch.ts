import { type Dispatch, isComplete, wasCounted } from '../domain/dispatch.ts';
import type { Instant } from '../domain/instant.ts';
import type { BatchKey, EndingRepository, RowsSeen } from './ports.ts';

/** What is left of a dispatch. */
export interface Looked {
  readonly batches: readonly BatchKey[];
  readonly seen: RowsSeen;
}

/** Reads in this order: the generation came with the dispatch, then batches, then rows. Otherwise a completion could be wrong. */
export const lookOver = async (dispatches: EndingRepository, dispatch: Dispatch, now: Instant): Promise<Looked> => {
  const batches = await dispatches.batches(dispatch.dispatchId);
  return { batches, seen: await dispatches.rows(dispatch, now) };
};

/** Ends a dispatch if its rows say so; undefined: they do not, or somebody changed it since it was read. */
export const endIfOver = async (
  dispatches: EndingRepository,
  dispatch: Dispatch,
  { batches, seen }: Looked,
  now: Instant,
): Promise<'completed' | 'closed' | undefined> => {
  const isOver = batches.length === 0 && isComplete(dispatch.total, seen.counts);
  if (!isOver && !wasCounted(dispatch)) return undefined;
  // Rows that have expired cannot be counted any more: the counts stay what they were.
  const { counts, deliveries } = isOver ? seen : { ...seen, ...dispatch };
  switch (dispatch.status) {
    case 'ACCEPTED':
    case 'IN_PROGRESS':
    case 'COMPLETED':
      return (await dispatches.complete(dispatch, { counts, deliveries }, now)) ? 'completed' : undefined;
    case 'CANCELLED':
      return (await dispatches.close(dispatch, { counts, deliveries }, now)) ? 'closed' : undefined;
    case 'STOPPED':
      // It stays so until a person has looked, whatever its rows say.
      return undefined;
  }
};
