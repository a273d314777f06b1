import type { Instant } from '../../domain/shared/instant.ts';
import type { Open, OpenList } from './list-open.ts';
import { type PassContext, type RecoverDeps, recoverDispatch, type Recovery, waitingBefore } from './recover-dispatch.ts';
import { recoverFinished } from './recover-finished.ts';
import type { Stuck } from './requeue-stuck.ts';
import { addVisit, NOTHING, type SweepReport } from './sweep-report.ts';

/** What came of inspecting the open dispatches. */
export interface Inspection {
  readonly report: SweepReport;
  readonly visits: readonly Recovery[];
  /** Dispatches with rows that lost their message. */
  readonly stuck: readonly Stuck[];
  /** Rows of all open dispatches that should have a message. */
  readonly waiting: number;
  /** There was no time for these. */
  readonly left: readonly Open[];
}

/** Inspects the dispatches that are due, for as long as there is time. */
export const inspectOpen = async (
  deps: RecoverDeps,
  { due, notDue, unreadable }: OpenList,
  context: PassContext,
): Promise<Inspection> => {
  let report: SweepReport = { ...NOTHING, open: due.length + notDue.length, unreadable };
  let waiting = 0;
  const visits: Recovery[] = [];
  const stuck: Stuck[] = [];
  let seen = 0;
  for (const dispatch of due) {
    // Trouble with one dispatch must not keep those after it from being inspected.
    const visit = context.hasTime() ? await recoverDispatch(deps, dispatch, context).catch(() => undefined) : undefined;
    if (visit === undefined && !context.hasTime()) break;
    seen += 1;
    report = addVisit(report, visit);
    waiting += visit?.waiting ?? waitingBefore(dispatch);
    if (visit !== undefined) visits.push(visit);
    if (visit?.done === 'marked') stuck.push(...stuckIn(dispatch, visit.stuckAt));
  }
  const left = due.slice(seen);
  for (const dispatch of [...left, ...notDue]) {
    waiting += waitingBefore(dispatch);
    stuck.push(...stuckIn(dispatch, undefined));
  }
  return { report, visits, stuck, waiting, left };
};

/** What an earlier pass left goes on: it moves since then, so it does not look stuck any more. */
const stuckIn = (dispatch: Open, stuckAt: Instant | undefined): Stuck[] => {
  const from = dispatch.requeueFrom ?? (stuckAt === undefined ? undefined : { until: stuckAt, shard: 0 });
  return from === undefined ? [] : [{ dispatch, from }];
};

/** Counts finished dispatches once more; what there is no time for does not make the pass incomplete. */
export const inspectFinished = async (
  deps: RecoverDeps,
  finished: readonly Open[],
  hasTime: () => boolean,
  before: SweepReport,
): Promise<{ readonly report: SweepReport; readonly visits: readonly Recovery[] }> => {
  const visits: Recovery[] = [];
  let report = before;
  for (const dispatch of finished) {
    if (!hasTime()) break;
    const visit = await recoverFinished(deps, dispatch).catch(() => undefined);
    report = addVisit(report, visit);
    if (visit !== undefined) visits.push(visit);
  }
  return { report, visits };
};
