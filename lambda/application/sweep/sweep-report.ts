import type { Recovery } from './recover-dispatch.ts';

/** What a pass did, for logs and metrics. */
export interface SweepReport {
  /** Nothing may be sent, so none but finished dispatches were looked at. */
  readonly paused: boolean;
  /** Whether there is a pause, be it one that may be probed; undefined: it cannot be told. */
  readonly pauseStands: boolean | undefined;
  /** Dispatches that are not finished. */
  readonly open: number;
  /** Dispatches that no version of this code can read; a person must look. */
  readonly unreadable: number;
  /** Dispatches that could not be visited, and steps that failed; the next pass tries again. */
  readonly failed: number;
  readonly completed: number;
  /** Dispatches that were stopped: their mail is too old to be sent unasked, or a rate of its bounces or complaints was exceeded. */
  readonly stopped: number;
  readonly reEnqueued: number;
  /** Batches and tasks that got their message again. */
  readonly tasksSentAgain: number;
  readonly oldestPendingSeconds: number;
  /** SES took mails a while ago, and no event of theirs has come. */
  readonly feedbackSilent: boolean;
  /** Whether recovery works: the round is complete, or at least one dispatch of it was inspected in this pass. */
  readonly progressed: boolean;
  /** Whether the round is complete: every dispatch that was due has been inspected, in this pass or in earlier ones of the round. */
  readonly finished: boolean;
}

export const NOTHING: SweepReport = {
  paused: false,
  pauseStands: undefined,
  open: 0,
  unreadable: 0,
  failed: 0,
  completed: 0,
  stopped: 0,
  reEnqueued: 0,
  tasksSentAgain: 0,
  oldestPendingSeconds: 0,
  feedbackSilent: false,
  progressed: false,
  finished: true,
};

/**
 * Adds what was found at one dispatch.
 * @param visit undefined: it failed
 */
export const addVisit = (report: SweepReport, visit: Recovery | undefined): SweepReport =>
  visit === undefined
    ? { ...report, failed: report.failed + 1 }
    : {
        ...report,
        completed: report.completed + (visit.done === 'completed' ? 1 : 0),
        stopped: report.stopped + (visit.done === 'stopped' ? 1 : 0),
        tasksSentAgain: report.tasksSentAgain + visit.sentAgain,
        oldestPendingSeconds: Math.max(report.oldestPendingSeconds, visit.oldestPendingSeconds),
      };
