import { type Counts, type Dispatch, isComplete, NO_COUNTS } from '../domain/dispatch.ts';
import type { Instant } from '../domain/instant.ts';
import { RECIPIENT_STATUSES, type RecipientKey } from '../domain/recipient.ts';
import type { Clock, OpenDispatchRepository, RowsSeen, SendQueue, SweepMarks, TaskQueue } from './ports.ts';

export interface SweepDeps {
  readonly dispatches: OpenDispatchRepository;
  readonly sendQueue: SendQueue;
  readonly taskQueue: TaskQueue;
  readonly clock: Clock;
  /** A dispatch counts as stuck when nothing of it changed for this long. */
  readonly stillMs: number;
  /** The rows of one dispatch are looked at no more often than this. */
  readonly visitMs: number;
}

/** What a pass did, for logs and metrics. */
export interface SweepReport {
  readonly open: number;
  /** Dispatches that no version of this code can read; a person must look. */
  readonly unreadable: number;
  /** Dispatches that could not be visited; the next pass tries again. */
  readonly failed: number;
  readonly completed: number;
  readonly reEnqueued: number;
  readonly expandedAgain: number;
  readonly oldestPendingSeconds: number;
  /** False when time ran out; the next pass goes on with those not visited. */
  readonly finished: boolean;
}

/** Re-enqueued per visit even when the queue seems to hold everything: its counts are approximate. */
const AT_LEAST = 10;
const AT_MOST = 5_000;

interface Visit {
  readonly dispatch: Dispatch;
  readonly seen: RowsSeen;
  readonly stuck: boolean;
}

type Situation = { readonly atStart: boolean; readonly timeLeft: () => boolean };

/** Looks over every dispatch that is not finished, and puts back on its way what has lost its message. */
export const createSweep =
  (deps: SweepDeps) =>
  async ({ atStart, timeLeft }: Situation): Promise<SweepReport> => {
    const { dispatches, clock } = deps;
    const visits: Visit[] = [];
    let report: SweepReport = {
      open: 0,
      unreadable: 0,
      failed: 0,
      completed: 0,
      reEnqueued: 0,
      expandedAgain: 0,
      oldestPendingSeconds: 0,
      finished: true,
    };
    let openRows = 0;

    for await (const dispatch of dispatches.open()) {
      if (!timeLeft()) {
        report = { ...report, finished: false };
        break;
      }
      if (dispatch === 'unreadable') {
        report = { ...report, unreadable: report.unreadable + 1 };
        continue;
      }
      report = { ...report, open: report.open + 1 };
      const due = atStart || (dispatch.visitedAt ?? dispatch.createdAt) + deps.visitMs <= clock();
      if (!due) {
        openRows += openOf(dispatch.counts ?? { ...NO_COUNTS, PENDING: dispatch.total });
        continue;
      }
      const visited = await visit(deps, dispatch, atStart).catch(() => undefined);
      // Trouble with one dispatch must not keep those after it from being looked at.
      if (visited === undefined) {
        report = { ...report, failed: report.failed + 1 };
        continue;
      }
      report = {
        ...report,
        completed: report.completed + (visited.completed ? 1 : 0),
        expandedAgain: report.expandedAgain + visited.expandedAgain,
        oldestPendingSeconds: Math.max(report.oldestPendingSeconds, overdueSeconds(visited.seen, clock())),
      };
      openRows += openOf(visited.seen.counts);
      visits.push({ dispatch, ...visited });
    }
    return { ...report, reEnqueued: await reEnqueue(deps, visits, openRows) };
  };

const visit = async (
  { dispatches, taskQueue, clock, stillMs }: SweepDeps,
  dispatch: Dispatch & SweepMarks,
  atStart: boolean,
): Promise<{ seen: RowsSeen; stuck: boolean; completed: boolean; expandedAgain: number }> => {
  const now = clock();
  // In this order: the generation came with the dispatch, then batches, then rows. Otherwise a completion could be wrong.
  const batches = await dispatches.batches(dispatch.dispatchId);
  const seen = await dispatches.rows(dispatch, now);
  if (batches.length === 0 && isComplete(dispatch.total, seen.counts)) {
    const completed = await dispatches.complete(dispatch, seen.counts, now);
    return { seen, stuck: false, completed, expandedAgain: 0 };
  }
  const lastProgressAt = moved(dispatch, seen.counts) ? now : (dispatch.lastProgressAt ?? dispatch.createdAt);
  await dispatches.mark(dispatch.dispatchId, { counts: seen.counts, lastProgressAt, visitedAt: now });
  const stuck = atStart || lastProgressAt + stillMs <= now;
  const expandedAgain = stuck ? (await taskQueue.expand(batches)).filter(Boolean).length : 0;
  return { seen, stuck, completed: false, expandedAgain };
};

/** The longest overdue first, no more than the queue seems to be missing: a second message does no harm, 50,000 of them would. */
const reEnqueue = async ({ sendQueue }: SweepDeps, visits: readonly Visit[], openRows: number): Promise<number> => {
  const stuck = visits.filter((visited) => visited.stuck && visited.seen.overdue.length > 0);
  if (stuck.length === 0) return 0;
  const missing = openRows - (await sendQueue.depth());
  let count = 0;
  for (const { seen } of stuck) {
    const keys: RecipientKey[] = seen.overdue.slice(0, Math.min(AT_MOST, Math.max(missing, AT_LEAST))).map(({ key }) => key);
    const sent = await sendQueue.send(keys.map((key) => ({ key, delaySeconds: 0 })));
    count += sent.filter(Boolean).length;
  }
  return count;
};

const openOf = (counts: Counts): number => counts.PENDING + counts.PROCESSING;

/** Compared with what was seen last, or with the moment of accept. */
const moved = ({ counts, total }: Dispatch, now: Counts): boolean => {
  const before = counts ?? { ...NO_COUNTS, PENDING: total };
  return RECIPIENT_STATUSES.some((status) => before[status] !== now[status]);
};

const overdueSeconds = ({ overdue }: RowsSeen, now: Instant): number =>
  Math.max(0, Math.floor((now - (overdue[0]?.since ?? now)) / 1000));
