import { type Counts, type Dispatch, isComplete, NO_COUNTS } from '../domain/dispatch.ts';
import type { Instant } from '../domain/instant.ts';
import { RECIPIENT_STATUSES, type RecipientKey } from '../domain/recipient.ts';
import { type Age, isStale } from '../domain/stop-rule.ts';
import type { BatchKey, Clock, OpenDispatchRepository, RowsSeen, SweepMarks, TaskKey, TaskQueue } from './ports.ts';

export interface VisitDeps {
  readonly dispatches: OpenDispatchRepository;
  readonly taskQueue: TaskQueue;
  readonly clock: Clock;
  /** A dispatch counts as stuck when nothing of it changed for this long. */
  readonly stillMs: number;
}

/** What all visits of a pass have in common. */
export interface PassContext {
  /** The queues are known to be empty: what waits in the table is stuck. */
  readonly atStart: boolean;
  /** The last time at which sending was paused; undefined: never. */
  readonly pausedAt: Instant | undefined;
}

/** What one visit found and did. */
export interface Visit {
  readonly done: 'completed' | 'closed' | 'stopped' | 'marked';
  /** Rows that should have a message. */
  readonly waiting: number;
  /** Rows of a dispatch that does not move, which should have had one long ago; the longest overdue first. */
  readonly stuck: readonly RecipientKey[];
  readonly sentAgain: number;
  readonly oldestPendingSeconds: number;
  readonly newestSentAt: Instant | undefined;
}

const NOTHING_LEFT = { waiting: 0, stuck: [], sentAgain: 0, oldestPendingSeconds: 0 } as const;

/** Looks over one dispatch: ends it if it is at its end, stops it if it is stale, and finds what has lost its message. */
export const visitDispatch = async (
  deps: VisitDeps,
  dispatch: Dispatch & SweepMarks,
  { atStart, pausedAt }: PassContext,
): Promise<Visit> => {
  const { dispatches, clock } = deps;
  const now = clock();
  // In this order: the generation came with the dispatch, then batches, then rows. Otherwise a completion could be wrong.
  const batches = await dispatches.batches(dispatch.dispatchId);
  const seen = await dispatches.rows(dispatch, now);
  const { newestSentAt } = seen;
  const unfinished = dispatch.status === 'COMPLETED' ? await dispatches.tasks(dispatch.dispatchId) : [];
  if (unfinished.length > 0)
    return { done: 'marked', ...(await sendTasksAgain(deps, dispatch, seen.counts, unfinished)), newestSentAt };
  // Rows of a completed dispatch that have expired cannot be counted any more: its counts stay what they were.
  if (dispatch.status === 'COMPLETED' && !isComplete(dispatch.total, seen.counts)) {
    await dispatches.complete(dispatch, dispatch.counts ?? seen.counts, now);
    return { done: 'completed', ...NOTHING_LEFT, newestSentAt };
  }
  if (batches.length === 0 && isComplete(dispatch.total, seen.counts) && (await end(deps, dispatch, seen.counts, now))) {
    return { done: dispatch.status === 'CANCELLED' ? 'closed' : 'completed', ...NOTHING_LEFT, newestSentAt };
  }
  const lastProgressAt = moved(dispatch, seen.counts) ? now : (dispatch.lastProgressAt ?? dispatch.createdAt);
  const dueSince = oldestDue(dispatch, batches, seen);
  const isSending = dispatch.status === 'ACCEPTED' || dispatch.status === 'IN_PROGRESS';
  if (isSending && dueSince !== undefined && isStale(ageOf(dispatch, seen, dueSince, pausedAt), now)) {
    if (await dispatches.stop(dispatch, { reason: 'stale' }, now)) return { done: 'stopped', ...NOTHING_LEFT, newestSentAt };
  }
  await dispatches.mark(dispatch.dispatchId, { counts: seen.counts, lastProgressAt, visitedAt: now });
  const isStuck = atStart || lastProgressAt + deps.stillMs <= now;
  const overdue = overdueOf(dispatch, seen);
  return {
    done: 'marked',
    waiting: waitingOf(dispatch, seen.counts),
    stuck: isStuck ? overdue.map(({ key }) => key) : [],
    sentAgain: isStuck ? await sendAgain(deps, dispatch, batches) : 0,
    oldestPendingSeconds: isSending && dueSince !== undefined ? Math.max(0, Math.floor((now - dueSince) / 1000)) : 0,
    newestSentAt,
  };
};

/** A STOPPED dispatch stays so until a person has looked, whatever its rows say. */
const end = ({ dispatches }: VisitDeps, dispatch: Dispatch, counts: Counts, now: Instant): Promise<boolean> => {
  switch (dispatch.status) {
    case 'ACCEPTED':
    case 'IN_PROGRESS':
    case 'COMPLETED':
      return dispatches.complete(dispatch, counts, now);
    case 'CANCELLED':
      return dispatches.close(dispatch, counts, now);
    case 'STOPPED':
      return Promise.resolve(false);
  }
};

/** Of a dispatch that is completed a retry or an export may be left; the dispatch stays open until it is done. */
const sendTasksAgain = async (
  { dispatches, taskQueue, clock }: VisitDeps,
  { dispatchId, lastProgressAt, createdAt }: Dispatch,
  counts: Counts,
  tasks: readonly TaskKey[],
): Promise<Omit<Visit, 'done' | 'newestSentAt'>> => {
  const sent = await taskQueue.carryOut(tasks);
  await dispatches.mark(dispatchId, { counts, lastProgressAt: lastProgressAt ?? createdAt, visitedAt: clock() });
  return { ...NOTHING_LEFT, sentAgain: sent.filter(Boolean).length };
};

const sendAgain = async (
  { dispatches, taskQueue }: VisitDeps,
  { dispatchId }: Dispatch,
  batches: readonly BatchKey[],
): Promise<number> => {
  const sent = [...(await taskQueue.expand(batches)), ...(await taskQueue.carryOut(await dispatches.tasks(dispatchId)))];
  return sent.filter(Boolean).length;
};

/** Messages of pending rows of a stopped dispatch are thrown away; a resume makes new ones. */
const overdueOf = ({ status }: Dispatch, { overdue }: RowsSeen): RowsSeen['overdue'] =>
  status === 'STOPPED' ? overdue.filter((row) => row.status === 'PROCESSING') : overdue;

/** Rows that should have a message, in the queue or in a worker's hand; those of a batch get theirs when it is expanded. */
const waitingOf = ({ status }: Dispatch, { PENDING, PROCESSING }: Counts): number =>
  status === 'STOPPED' ? PROCESSING : PENDING + PROCESSING;

/** What the sweeper saw last, for a dispatch that it does not visit this time. */
export const waitingBefore = (dispatch: Dispatch): number =>
  waitingOf(dispatch, dispatch.counts ?? { ...NO_COUNTS, PENDING: dispatch.total });

/** Since when something of the dispatch should have been done. */
const oldestDue = ({ createdAt }: Dispatch, batches: readonly BatchKey[], { overdue }: RowsSeen): Instant | undefined => {
  const [row] = overdue;
  return batches.length > 0 ? createdAt : row?.since;
};

/**
 * By the rows' own times: what differs from the last visit says nothing, since in a table that was restored both are old.
 */
const ageOf = (
  { createdAt, resumedAt = 0, visitedAt = 0 }: Dispatch & SweepMarks,
  { newestOutcomeAt = 0 }: RowsSeen,
  dueSince: Instant,
  pausedAt = 0,
): Age => ({
  dueSince,
  lastOutcomeAt: Math.max(createdAt, resumedAt, newestOutcomeAt),
  lastTraceAt: Math.max(visitedAt, pausedAt),
});

/** Compared with what was seen last, or with the moment of accept. */
const moved = ({ counts, total }: Dispatch, now: Counts): boolean => {
  const before = counts ?? { ...NO_COUNTS, PENDING: total };
  return RECIPIENT_STATUSES.some((status) => before[status] !== now[status]);
};
