import type { Command } from '../../domain/dispatch/command.ts';
import type { Counts, Dispatch, DispatchStatus, RowCounts } from '../../domain/dispatch/dispatch.ts';
import type { DeliveryState } from '../../domain/recipient/delivery.ts';
import type { RecipientKey, RecipientStatus } from '../../domain/recipient/recipient.ts';
import type { UnclearPolicy } from '../../domain/recipient/unclear.ts';
import type { Sending } from '../../domain/sending/pause.ts';
import type { Trouble } from '../../domain/sending/trouble.ts';
import type { FeedbackState } from '../../domain/sending/watermark.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { StoredRecipient } from './recipients.ts';

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

/** Long work on a dispatch that is not done. */
export interface PendingTask {
  readonly task: number;
  readonly kind: Command;
  readonly requestedAt: Instant;
}

/** A recipient without what its mail says: the variables are not read. */
export type RecipientSeen = Omit<StoredRecipient, 'variables'>;

/** A recipient whose mail was not sent or did not arrive, or of whom nobody knows. */
export interface BadRecipient {
  readonly applyId: string;
  readonly status: RecipientStatus;
  readonly delivery: DeliveryState;
  /** Why it was not sent, if it was not. */
  readonly code?: string;
}

/** What stories are told of, besides the dispatch itself. Every method throws {@link Unavailable}. */
export interface DetailsRepository {
  pendingTasks(dispatchId: string): Promise<readonly PendingTask[]>;
  /** Batches whose recipients are not there yet. */
  pendingBatches(dispatchId: string): Promise<number>;
  /** The first of them that are found; of a very large dispatch not all rows are looked at. */
  badRecipients(dispatch: Pick<Dispatch, 'dispatchId' | 'shards'>, limit: number): Promise<readonly BadRecipient[]>;
  /** Undefined: it has no row, or none yet. */
  recipient(key: RecipientKey): Promise<RecipientSeen | undefined>;
}

/** Dispatches that are not finished, and then those that need attention; newest first, each. */
export interface OpenList {
  list(query: Omit<DispatchQuery, 'of'>): Promise<DispatchPage>;
}

/** A dispatch that a person should look at. */
export interface DispatchInNeed {
  readonly dispatch: Dispatch;
  readonly trouble: Trouble;
}

/** How the service stands. Addresses in it are masked. */
export interface Overview {
  readonly now: Instant;
  readonly sending: Sending | 'unavailable';
  /** Undefined: recovery never passed. */
  readonly lastPassAt: Instant | undefined | 'unavailable';
  /** When recovery last inspected a dispatch of a round that is not finished; undefined: none is, or the table does not say. */
  readonly roundProgressAt: Instant | undefined;
  readonly feedback: FeedbackState | 'unavailable';
  /** When SES took the newest mail of which an event is due, as recovery has seen; undefined: none is. */
  readonly newestSentAt: Instant | undefined | 'unavailable';
  /** The worst first. */
  readonly inNeed: readonly DispatchInNeed[];
  /** How many more there are. */
  readonly moreInNeed: number;
  /** Dispatches that are being sent, as many as were looked at. */
  readonly underWay: number;
  readonly oldestUnderWayAt: Instant | undefined;
  /** There are more dispatches than were looked at. */
  readonly isPart: boolean;
}

/**
 * What became of one dispatch, and of one of its recipients if that was asked for; the counts by state add up to the
 * dispatch's total. Addresses in it are masked.
 */
export interface Details extends RowCounts {
  readonly now: Instant;
  readonly dispatch: Dispatch;
  /** What follows a lost answer in this stage. */
  readonly unclearPolicy: UnclearPolicy;
  readonly pendingTasks: readonly PendingTask[];
  readonly pendingBatches: number;
  /** Some of them; none when a recipient was asked for. */
  readonly badRecipients: readonly BadRecipient[];
  readonly recipient?: RecipientSeen | 'no-recipient';
}
