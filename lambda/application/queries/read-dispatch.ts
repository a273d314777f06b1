import {
  addCounts,
  countRows,
  type Dispatch,
  isSending,
  needsAttention,
  NO_COUNTS,
  outcomeOf,
  type RowCounts,
  statusNow,
  withBatches,
  withUnexpanded,
} from '../../domain/dispatch/dispatch.ts';
import { knownExpired } from '../../domain/dispatch/expired-rows.ts';
import { shardOf } from '../../domain/dispatch/shards.ts';
import type { FoundDispatch, ReadRepository, RecipientPage, RecipientQuery } from '../ports/queries.ts';
import type { StoredRecipient } from '../ports/recipients.ts';

/** Who asks. */
export interface Reader {
  readonly adminId: string;
  /** Operators may look at any admin's dispatches. */
  readonly isOperator: boolean;
}

/** A dispatch and how far its recipients are. The counts by state add up to its total, but for those kept of a large one whose records came twice. */
export interface DispatchNow extends RowCounts {
  readonly dispatch: Dispatch;
}

export interface ReadDispatch {
  /** Undefined: there is none that this reader may see. */
  dispatch(reader: Reader, dispatchId: string): Promise<DispatchNow | undefined>;
  recipients(reader: Reader, dispatchId: string, query: Omit<RecipientQuery, 'dispatch'>): Promise<RecipientPage | undefined>;
  /** The first of these that there is. */
  recipient(
    reader: Reader,
    dispatchId: string,
    applyIds: readonly string[],
  ): Promise<StoredRecipient | 'no-recipient' | undefined>;
}

/** Answers what became of a dispatch. Another admin's is as good as none. */
export const createReadDispatch = (repository: ReadRepository): ReadDispatch => {
  const find = async ({ adminId, isOperator }: Reader, dispatchId: string): Promise<FoundDispatch | undefined> => {
    const dispatch = await repository.find(dispatchId);
    return dispatch !== undefined && (isOperator || dispatch.adminId === adminId) ? dispatch : undefined;
  };

  return {
    async dispatch(reader, dispatchId) {
      const dispatch = await find(reader, dispatchId);
      if (dispatch === undefined) return undefined;
      const { total } = dispatch;
      const kept = keptCounts(dispatch);
      if (kept !== undefined) return { dispatch, counts: withBatches(total, kept.counts), deliveries: kept.deliveries };
      const { counts: rows, deliveries } = await countsNow(repository, dispatch);
      const counts = withUnexpanded(dispatch, rows);
      const status = statusNow(dispatch, counts);
      const result = { outcome: outcomeOf(counts), needsAttention: needsAttention(counts, deliveries) };
      return {
        dispatch: { ...dispatch, status, ...(status === 'COMPLETED' && result) },
        counts: withBatches(total, counts),
        deliveries,
      };
    },

    async recipients(reader, dispatchId, query) {
      const dispatch = await find(reader, dispatchId);
      return dispatch && repository.recipients({ ...query, dispatch });
    },

    async recipient(reader, dispatchId, applyIds) {
      const dispatch = await find(reader, dispatchId);
      if (dispatch === undefined) return undefined;
      for (const applyId of applyIds) {
        const found = await repository.recipient({ dispatchId, shard: shardOf(applyId, dispatch.shards), applyId });
        if (found !== undefined) return found;
      }
      return 'no-recipient';
    },
  };
};

/** Whoever watches a dispatch asks again and again: of a larger one it is too dear to read all rows each time. */
const MOST_ROWS_READ = 1_000;

/** What progress keeps of a large dispatch. */
const keptCounts = ({ total, counts, deliveries }: FoundDispatch): RowCounts | undefined =>
  total > MOST_ROWS_READ && counts !== undefined && deliveries !== undefined ? { counts, deliveries } : undefined;

/**
 * Rows expire one by one, and are counted on as what they were. A dispatch that was finished before deliveries were counted has
 * them in its rows alone.
 */
const countsNow = async (repository: ReadRepository, dispatch: FoundDispatch): Promise<RowCounts> => {
  const { status, counts, deliveries, isOpen, total } = dispatch;
  if (status === 'COMPLETED' && !isOpen && counts !== undefined && deliveries !== undefined) return { counts, deliveries };
  const rows = await repository.counts(dispatch);
  if (countRows(rows.counts) >= total) return rows;
  const { frozen = rows.counts } = rows;
  const expired = mayHaveExpired(dispatch) ? knownExpired(dispatch, { counts: rows.counts, frozen }) : NO_COUNTS;
  if (countRows(expired) > 0) return { counts: addCounts(rows.counts, expired), deliveries: deliveries ?? rows.deliveries };
  return status === 'COMPLETED' && counts !== undefined ? { counts, deliveries: deliveries ?? rows.deliveries } : rows;
};

/** One that is being sent and has not ended is too young; what it lacks is in batches. */
const mayHaveExpired = ({ status, frozenGeneration }: Dispatch): boolean => frozenGeneration !== undefined || !isSending(status);
