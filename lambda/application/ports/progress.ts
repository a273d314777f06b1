import type { Counts, Dispatch, RowCounts } from '../../domain/dispatch/dispatch.ts';
import type { DispatchEvent } from '../../domain/dispatch/dispatch-event.ts';
import type { BounceStatistics, Stop } from '../../domain/dispatch/stop-rule.ts';
import type { RecipientKey } from '../../domain/recipient/recipient.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { PendingBatch, TaskKey } from './queues.ts';

/** A row that is not final. */
export type OpenRowStatus = 'PENDING' | 'PROCESSING';

/** Where to go on reading overdue rows: those that were overdue at `until`, from there in the order of their keys. */
export interface OverduePosition {
  readonly until: Instant;
  readonly shard: number;
  /** The applyId before the next row; absent: from the beginning of the shard. */
  readonly after?: string;
}

/** A row that should have had a message long ago. */
export interface OverdueRow {
  readonly key: RecipientKey;
  readonly since: Instant;
  readonly status: OpenRowStatus;
}

/** What is read of a dispatch's rows. */
export interface RowsSeen extends RowCounts {
  /**
   * The rows that were not reopened since the last end of the dispatch, by their status; absent while there was no end and
   * the dispatch is so young that no row can have expired.
   */
  readonly frozen?: Counts;
  /** Since the last resume, or since it was taken up again. */
  readonly bounceStatistics: BounceStatistics;
  /** Since when the longest overdue row waits: PENDING and due, or PROCESSING past the lease. */
  readonly overdueSince: { readonly [S in OpenRowStatus]?: Instant };
  /** When SES took the newest mail; absent: it took none. */
  readonly newestSentAt?: Instant;
  /** When it was last known what became of a mail, taken or not. */
  readonly newestOutcomeAt?: Instant;
}

/** Dispatches that may be at their end. Whatever is written stands on what was read before. */
export interface EndingRepository {
  batches(dispatchId: string): Promise<readonly PendingBatch[]>;
  /** Throws once there is no time. */
  rows(
    dispatch: Pick<Dispatch, 'dispatchId' | 'shards' | 'createdAt' | 'resumedAt' | 'statisticsSince' | 'frozenGeneration'>,
    now: Instant,
    hasTime: () => boolean,
  ): Promise<RowsSeen>;
  /** Puts exact counts in place of those kept, unless progress counted since the dispatch was read or it is finished. */
  recount(dispatch: Dispatch, rows: RowCounts, lastProgressAt: Instant): Promise<boolean>;
  /** COMPLETED, as long as it is being sent in the generation that was read. It stays open until the sweeper has seen it so. */
  complete(dispatch: Dispatch, rows: RowCounts, now: Instant): Promise<boolean>;
  /** A CANCELLED dispatch has no open row any more. It stays open as well. */
  close(dispatch: Dispatch, rows: RowCounts, now: Instant): Promise<boolean>;
  /** STOPPED, if it is still being sent as it was when it was read. */
  stop(dispatch: Dispatch, stop: Stop, now: Instant): Promise<boolean>;
}

/** Dispatches that are not finished. */
export interface OpenDispatchRepository extends EndingRepository {
  /** One that cannot be read must not keep the others from being looked at. */
  open(): AsyncIterable<(Dispatch & SweepState) | 'unreadable'>;
  /** Tasks that are not done. */
  tasks(dispatchId: string): Promise<readonly TaskKey[]>;
  /** Some rows in these states that were overdue, read consistently, and where the next ones begin. A page may be empty and not be the last. */
  overdueRows(
    dispatch: Pick<Dispatch, 'dispatchId' | 'shards'>,
    statuses: readonly OpenRowStatus[],
    from: OverduePosition,
  ): Promise<{ readonly rows: readonly OverdueRow[]; readonly next?: OverduePosition }>;
  /** Remembers where the next pass goes on re-enqueueing; undefined: nothing is left. Nothing if the dispatch is open no more. */
  keepRequeue(dispatchId: string, from: OverduePosition | undefined): Promise<void>;
  /** Remembers a visit; nothing if the dispatch is open no more. */
  mark(dispatch: Dispatch & SweepState, sweptAt: Instant): Promise<void>;
  /**
   * Gives a finished dispatch its counts anew and remembers the visit, as long as no row was reopened or changed, progress
   * counted nothing and no task was begun since it was read.
   * @param isLast nobody need look at it any more
   */
  settle(dispatch: Dispatch & SweepState, rows: RowCounts, sweptAt: Instant, isLast: boolean): Promise<boolean>;
}

/** What the sweeper last saw of a dispatch, and what it needs beside the dispatch itself. */
export interface SweepState {
  /** When it looked at the rows. */
  readonly sweptAt?: Instant;
  /** The dispatch's generation then, and how many tasks had been begun. */
  readonly sweptGeneration?: number;
  readonly sweptTasks?: number;
  /** Tasks that were begun up to now. */
  readonly tasks?: number;
  /** Overdue rows from there on got no message yet: there was no time, or the queue seemed to hold enough. */
  readonly requeueFrom?: OverduePosition;
}

/** A dispatch right after something was added to its counts. */
export interface CountedDispatch {
  readonly dispatch: Dispatch & RowCounts;
  /** PENDING and PROCESSING together, even if that has drifted below none. */
  readonly openRows: number;
}

/** Dispatches as progress counts them. */
export interface ProgressRepository extends EndingRepository {
  /**
   * Adds to the counts. Of a dispatch whose rows were counted exactly at its end only deliveries are added, and the sweeper
   * counts it anew.
   * @returns undefined when nothing follows: it is at its end, gone, or has no counts to add to
   * @throws Unavailable when it may go well later; anything else would be thrown each time
   */
  add(dispatchId: string, delta: RowCounts, now: Instant): Promise<CountedDispatch | undefined>;
  /** ACCEPTED to IN_PROGRESS. */
  begin(dispatchId: string): Promise<void>;
  /** Whether a retry or a resume that is not done goes on reopening recipients. */
  isReopening(dispatchId: string): Promise<boolean>;
  find(dispatchId: string): Promise<Dispatch | undefined>;
}

/** Whether news was taken; if not, the code of what went wrong. */
export type Published = 'taken' | { readonly code: string };

/** Where others are told of dispatches. */
export interface EventPublisher {
  /** Answers for each; never throws. */
  publish(news: readonly DispatchEvent[]): Promise<Published[]>;
}
