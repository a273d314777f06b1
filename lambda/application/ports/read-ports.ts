import type { Counts, Dispatch, DispatchStatus, RowCounts } from '../../domain/dispatch/dispatch.ts';
import type { RecipientKey, RecipientStatus } from '../../domain/recipient/recipient.ts';
import type { StoredRecipient } from './ports.ts';

/** Where to go on reading: after that recipient, or at the beginning of the shard. */
export interface RecipientPosition {
  readonly shard: number;
  readonly after?: string;
}

/** Some recipients, and where the next ones begin. A page may be empty and not be the last. */
export interface RecipientPage {
  readonly recipients: readonly StoredRecipient[];
  readonly next?: RecipientPosition;
}

export interface RecipientQuery {
  readonly dispatch: Pick<Dispatch, 'dispatchId' | 'shards'>;
  readonly status?: RecipientStatus;
  readonly from: RecipientPosition;
  readonly limit: number;
}

/** Where to go on listing: after that place in a part, or at its beginning. */
export interface DispatchPosition {
  readonly part: 'admin' | 'open' | 'attention';
  readonly after?: string;
}

/** Some dispatches, and where the next ones begin. A page may be empty and not be the last. */
export interface DispatchPage {
  readonly dispatches: readonly Dispatch[];
  readonly next?: DispatchPosition;
}

export interface DispatchQuery {
  /** One admin's; or all that are not finished and then all that need attention. Newest first, each. */
  readonly of: { readonly adminId: string } | 'open';
  readonly recruitId?: string;
  /** As it is stored. */
  readonly status?: DispatchStatus;
  /** Tests, or others; undefined: both. */
  readonly isTest?: boolean;
  readonly from?: DispatchPosition;
  readonly limit: number;
}

/** Dispatches in lists. */
export interface ListRepository {
  list(query: DispatchQuery): Promise<DispatchPage>;
}

/** A dispatch as it is stored. */
export interface FoundDispatch extends Dispatch {
  /** The sweeper will look at it again: whatever it stored about the rows may be out of date. */
  readonly isOpen: boolean;
}

/** Dispatches as their admins see them. */
export interface ReadRepository {
  find(dispatchId: string): Promise<FoundDispatch | undefined>;
  /**
   * Counts the rows; recipients that are still in a batch are not among them. `frozen`: those that were not reopened since
   * the last end.
   */
  counts(
    dispatch: Pick<Dispatch, 'dispatchId' | 'shards' | 'frozenGeneration'>,
  ): Promise<RowCounts & { readonly frozen?: Counts }>;
  recipients(query: RecipientQuery): Promise<RecipientPage>;
  /** Undefined: it has no row, or none yet. */
  recipient(key: RecipientKey): Promise<StoredRecipient | undefined>;
}
