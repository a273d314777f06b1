import { countRows, type Counts, type Dispatch, needsAttention, outcomeOf, statusNow } from '../domain/dispatch.ts';
import { shardOf } from '../domain/shards.ts';
import type { StoredRecipient } from './ports.ts';
import type { FoundDispatch, ReadRepository, RecipientPage, RecipientQuery } from './read-ports.ts';

/** Who asks. */
export interface Reader {
  readonly adminId: string;
  /** Operators may look at any admin's dispatches. */
  readonly isOperator: boolean;
}

/** A dispatch and how far its recipients are. */
export interface DispatchNow {
  readonly dispatch: Dispatch;
  /** Adds up to the dispatch's total. */
  readonly counts: Counts;
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
      const rows = await countsNow(repository, dispatch);
      const status = statusNow(dispatch, rows);
      const result = { outcome: outcomeOf(rows), needsAttention: needsAttention(rows) };
      return {
        dispatch: { ...dispatch, status, ...(status === 'COMPLETED' && result) },
        // Recipients that are still in a batch have no row, and are as pending as those that have one.
        counts: { ...rows, PENDING: rows.PENDING + Math.max(0, dispatch.total - countRows(rows)) },
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

/** Rows of a finished dispatch expire one by one: its counts stay what they were, unless all rows are there and one has changed. */
const countsNow = async (repository: ReadRepository, dispatch: FoundDispatch): Promise<Counts> => {
  const { status, counts, isOpen, total } = dispatch;
  if (status !== 'COMPLETED' || counts === undefined) return repository.counts(dispatch);
  if (!isOpen) return counts;
  const rows = await repository.counts(dispatch);
  return countRows(rows) < total ? counts : rows;
};
