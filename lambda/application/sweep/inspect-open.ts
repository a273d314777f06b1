import { type PassContext, type Visit, type VisitDeps, visitDispatch, waitingBefore } from '../visit-dispatch.ts';
import { visitFinished } from '../visit-finished.ts';
import type { Open, OpenList } from './list-open.ts';
import { addVisit, NOTHING, type SweepReport } from './sweep-report.ts';

/** What came of inspecting the open dispatches. */
export interface Inspection {
  readonly report: SweepReport;
  readonly visits: readonly Visit[];
  /** Rows of all open dispatches that should have a message. */
  readonly waiting: number;
  /** There was no time for these. */
  readonly left: readonly Open[];
}

/** Inspects the dispatches that are due, for as long as there is time. */
export const inspectOpen = async (
  deps: VisitDeps,
  { due, notDue, unreadable }: OpenList,
  context: PassContext,
  hasTime: () => boolean,
): Promise<Inspection> => {
  let report: SweepReport = { ...NOTHING, open: due.length + notDue.length, unreadable };
  let waiting = notDue.reduce((sum, dispatch) => sum + waitingBefore(dispatch), 0);
  const visits: Visit[] = [];
  for (const [i, dispatch] of due.entries()) {
    if (!hasTime()) {
      const left = due.slice(i);
      return { report, visits, left, waiting: waiting + left.reduce((sum, each) => sum + waitingBefore(each), 0) };
    }
    // Trouble with one dispatch must not keep those after it from being inspected.
    const visit = await visitDispatch(deps, dispatch, context).catch(() => undefined);
    report = addVisit(report, visit);
    waiting += visit?.waiting ?? waitingBefore(dispatch);
    if (visit !== undefined) visits.push(visit);
  }
  return { report, visits, waiting, left: [] };
};

/** Counts finished dispatches once more; what there is no time for does not make the pass incomplete. */
export const inspectFinished = async (
  deps: VisitDeps,
  finished: readonly Open[],
  hasTime: () => boolean,
  before: SweepReport,
): Promise<{ readonly report: SweepReport; readonly visits: readonly Visit[] }> => {
  const visits: Visit[] = [];
  let report = before;
  for (const dispatch of finished) {
    if (!hasTime()) break;
    const visit = await visitFinished(deps, dispatch).catch(() => undefined);
    report = addVisit(report, visit);
    if (visit !== undefined) visits.push(visit);
  }
  return { report, visits };
};
