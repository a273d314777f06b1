import type { DeliveryState } from '../../domain/recipient/delivery.ts';
import type { Dispatch, RowCounts } from '../../domain/dispatch/dispatch.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { Operation } from '../../domain/dispatch/operation.ts';
import type { Sending } from '../../domain/sending/pause.ts';
import type { RecipientKey, RecipientStatus } from '../../domain/recipient/recipient.ts';
import type { Trouble } from '../../domain/sending/trouble.ts';
import type { UnclearPolicy } from '../../domain/recipient/unclear.ts';
import type { FeedbackState } from '../../domain/sending/watermark.ts';
import type { StoredRecipient } from './ports.ts';
import type { DispatchPage, DispatchQuery } from './read-ports.ts';

/** Long work on a dispatch that is not done. */
export interface TaskLeft {
  readonly task: number;
  readonly kind: Operation;
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
export interface StoryRepository {
  tasksLeft(dispatchId: string): Promise<readonly TaskLeft[]>;
  /** Batches whose recipients are not there yet. */
  batchesLeft(dispatchId: string): Promise<number>;
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
export interface DispatchInTrouble {
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
  readonly inTrouble: readonly DispatchInTrouble[];
  /** How many more there are. */
  readonly moreInTrouble: number;
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
export interface Story extends RowCounts {
  readonly now: Instant;
  readonly dispatch: Dispatch;
  /** What follows a lost answer in this stage. */
  readonly unclearPolicy: UnclearPolicy;
  readonly tasksLeft: readonly TaskLeft[];
  readonly batchesLeft: number;
  /** Some of them; none when a recipient was asked for. */
  readonly badRecipients: readonly BadRecipient[];
  readonly recipient?: RecipientSeen | 'no-recipient';
}
