import { type Counts, countsAtAccept, type Dispatch, isSending, withBatches } from '../../domain/dispatch/dispatch.ts';
import { type Age, exceededRate, isStale, type StopReason } from '../../domain/dispatch/stop-rule.ts';
import { RECIPIENT_STATUSES } from '../../domain/recipient/recipient.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { OpenDispatchRepository, OpenRowStatus, RowsSeen, SweepState } from '../ports/progress.ts';
import type { BatchKey, TaskQueue } from '../ports/queues.ts';
import type { Clock } from '../ports/system.ts';
import { finishIfDone, inspectDispatch, type Inspected, isOver, isWhole } from '../progress/inspect-dispatch.ts';

export interface RecoverDeps {
  readonly dispatches: OpenDispatchRepository;
  readonly taskQueue: TaskQueue;
  readonly clock: Clock;
  /** A dispatch counts as stuck when nothing of it changed for this long. */
  readonly stuckAfterMs: number;
}

/** What all visits of a pass have in common. */
export interface PassContext {
  /** The queues are known to be empty: what waits in the table is stuck. */
  readonly atStart: boolean;
  /** The last time at which sending was paused; undefined: never. */
  readonly pausedAt: Instant | undefined;
  /** Asked while rows are read, which may take long; without time the visit throws. */
  readonly hasTime: () => boolean;
}

/** What one visit found and did. */
export interface Recovery {
  readonly done: 'completed' | 'closed' | 'settled' | 'stopped' | 'marked';
  /** Rows that should have a message. */
  readonly waiting: number;
  /** When rows were seen that should have had one long ago, in a dispatch that does not move; undefined: there are none. */
  readonly stuckAt: Instant | undefined;
  readonly sentAgain: number;
  readonly oldestPendingSeconds: number;
  readonly newestSentAt: Instant | undefined;
}

export const NOTHING_LEFT = { waiting: 0, stuckAt: undefined, sentAgain: 0, oldestPendingSeconds: 0 } as const;

/** Looks over one dispatch that is not finished: ends it if it is at its end, stops it if it is stale, and finds what has lost its message. */
export const recoverDispatch = async (
  deps: RecoverDeps,
  dispatch: Dispatch & SweepState,
  { atStart, pausedAt, hasTime }: PassContext,
): Promise<Recovery> => {
  const { dispatches, clock } = deps;
  const now = clock();
  const looked = await inspectDispatch(dispatches, dispatch, now, hasTime);
  const { batches, seen } = looked;
  const { newestSentAt } = seen;
  const ended = await finishIfDone(dispatches, dispatch, looked, now);
  if (ended !== undefined) return { done: ended, ...NOTHING_LEFT, newestSentAt };
  const dueSince = oldestDue(dispatch, batches, seen);
  const reason = isSending(dispatch.status) ? reasonToStop(dispatch, looked, dueSince, pausedAt, now) : undefined;
  if (reason !== undefined && (await dispatches.stop(dispatch, { reason }, now))) {
    return { done: 'stopped', ...NOTHING_LEFT, newestSentAt };
  }
  const isStuck = (await isStill(deps, dispatch, looked, now)) || atStart;
  await dispatches.mark(dispatch, now);
  const hasOverdue = statusesToSend(dispatch).some((status) => seen.overdueSince[status] !== undefined);
  return {
    done: 'marked',
    waiting: waitingOf(dispatch, seen.counts),
    stuckAt: isStuck && hasOverdue ? now : undefined,
    sentAgain: await sendAgain(deps, dispatch, batches, isStuck),
    oldestPendingSeconds: isSending(dispatch.status) && dueSince !== undefined ? secondsFrom(dueSince, now) : 0,
    newestSentAt,
  };
};

const secondsFrom = (since: Instant, now: Instant): number => Math.max(0, Math.floor((now - since) / 1000));

const reasonToStop = (
  dispatch: Dispatch & SweepState,
  looked: Inspected,
  dueSince: Instant | undefined,
  pausedAt: Instant | undefined,
  now: Instant,
): StopReason | undefined => {
  const { seen } = looked;
  // It could not be completed just now, but nothing of it is left to be stopped.
  if (isOver(dispatch, looked)) return undefined;
  const rate = exceededRate(seen.bounceStatistics);
  if (rate !== undefined) return rate;
  return dueSince !== undefined && isStale(ageOf(dispatch, seen, dueSince, pausedAt), now) ? 'stale' : undefined;
};

/**
 * Whether nothing of the dispatch changed for long. While progress counts, be it only late news of mails, its time tells; what
 * it has not seen for that long is counted here, and what differs then is a change.
 */
const isStill = async (
  { dispatches, stuckAfterMs }: RecoverDeps,
  dispatch: Dispatch,
  looked: Inspected,
  now: Instant,
): Promise<boolean> => {
  const { counts, deliveries, countedAt = -Infinity, lastProgressAt = dispatch.createdAt } = dispatch;
  const isLate = lastProgressAt + stuckAfterMs <= now;
  const isCounting = !isLate || countedAt + stuckAfterMs > now;
  // Counting what progress is about to add would add it twice.
  if (isCounting && counts !== undefined && deliveries !== undefined) return isLate;
  // Rows that have expired say nothing any more.
  if (!isWhole(dispatch, looked)) return isLate;
  const { seen } = looked;
  const hasMoved = moved(dispatch, seen.counts);
  await dispatches.recount(dispatch, seen, hasMoved ? now : lastProgressAt);
  return isLate && !hasMoved;
};

const sendAgain = async (
  { dispatches, taskQueue }: RecoverDeps,
  { dispatchId }: Dispatch,
  batches: readonly BatchKey[],
  isStuck: boolean,
): Promise<number> => {
  // Expansion takes seconds. What is left at a visit has lost its message, although the other batches of the dispatch move it.
  const expanded = await taskQueue.expand(batches);
  const enqueuedTasks = isStuck ? await taskQueue.enqueueTasks(await dispatches.tasks(dispatchId)) : [];
  const sent = [...expanded, ...enqueuedTasks];
  return sent.filter(Boolean).length;
};

/** Messages of pending rows of a stopped dispatch are thrown away; a resume makes new ones. */
export const statusesToSend = ({ status }: Pick<Dispatch, 'status'>): readonly OpenRowStatus[] =>
  status === 'STOPPED' ? ['PROCESSING'] : ['PENDING', 'PROCESSING'];

/** Rows that should have a message, in the queue or in a worker's hand; those of a batch get theirs when it is expanded. */
const waitingOf = ({ status }: Dispatch, { PENDING, PROCESSING }: Counts): number =>
  status === 'STOPPED' ? PROCESSING : PENDING + PROCESSING;

/** What was counted last, for a dispatch that it does not visit this time. */
export const waitingBefore = (dispatch: Dispatch): number =>
  waitingOf(dispatch, dispatch.counts ?? countsAtAccept(dispatch.total).counts);

/** Since when something of the dispatch should have been done. */
const oldestDue = (
  { createdAt }: Dispatch,
  batches: readonly BatchKey[],
  { overdueSince: { PENDING = Infinity, PROCESSING = Infinity } }: RowsSeen,
): Instant | undefined => {
  if (batches.length > 0) return createdAt;
  const since = Math.min(PENDING, PROCESSING);
  return since === Infinity ? undefined : since;
};

/**
 * By the rows' own times: what differs from the last visit says nothing, since in a table that was restored both are old.
 */
const ageOf = (
  { createdAt, resumedAt = 0, sweptAt = 0 }: Dispatch & SweepState,
  { newestOutcomeAt = 0 }: RowsSeen,
  dueSince: Instant,
  pausedAt = 0,
): Age => ({
  dueSince,
  lastOutcomeAt: Math.max(createdAt, resumedAt, newestOutcomeAt),
  lastTraceAt: Math.max(sweptAt, pausedAt),
});

/** Compared with what was counted last, or with the moment of accept. */
const moved = ({ counts, total }: Dispatch, rows: Counts): boolean => {
  const before = counts ?? countsAtAccept(total).counts;
  const now = withBatches(total, rows);
  return RECIPIENT_STATUSES.some((status) => before[status] !== now[status]);
};
