import type { Counts, Dispatch } from '../domain/dispatch.ts';
import type { RecipientStatus } from '../domain/recipient.ts';
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

/** A dispatch as it is stored. */
export interface FoundDispatch extends Dispatch {
  /** The sweeper will look at it again: whatever it stored about the rows may be out of date. */
  readonly isOpen: boolean;
}

/** Dispatches as their admins see them. */
export interface ReadRepository {
  find(dispatchId: string): Promise<FoundDispatch | undefined>;
  /** Counts the rows; recipients that are still in a batch are not among them. */
  counts(dispatch: Pick<Dispatch, 'dispatchId' | 'shards'>): Promise<Counts>;
  recipients(query: RecipientQuery): Promise<RecipientPage>;
}
