import { type Dispatch, wasCounted } from '../domain/dispatch.ts';
import type { Instant } from '../domain/instant.ts';
import { isPaused, type Sending } from '../domain/pause.ts';
import { isSilent } from '../domain/witness.ts';
import type { SendingRepository, SendQueue, SweepMarks, SweepTraces, WitnessRepository } from './ports.ts';
import { type PassContext, type Visit, type VisitDeps, visitDispatch, waitingBefore } from './visit-dispatch.ts';
import { finishedDueAt, visitFinished } from './visit-finished.ts';

export interface SweepDeps extends VisitDeps {
  readonly sendQueue: SendQueue;
  readonly sending: SendingRepository;
  readonly sweeps: SweepTraces;
  readonly witness: WitnessRepository;
  /** The rows of one dispatch are looked at no more often than this. */
  readonly visitMs: number;
}

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
  /** Dispatches that could not be visited; the next pass tries again. */
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
  /** False when time ran out before all that are not finished were visited; the next pass goes on with those. */
  readonly finished: boolean;
}

/** Re-enqueued per visit even when the queue seems to hold everything: its counts are approximate. */
const AT_LEAST = 10;
const AT_MOST = 5_000;

const NOTHING: SweepReport = {
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
  finished: true,
};

type Situation = { readonly atStart: boolean; readonly timeLeft: () => boolean };

/**
 * Looks over every dispatch that is not finished, and puts back on its way what has lost its message; then over those that are
 * finished and not closed, for which there is always time later.
 */
export const createSweep =
  (deps: SweepDeps) =>
  async ({ atStart, timeLeft }: Situation): Promise<SweepReport> => {
    const { sending, sweeps, clock } = deps;
    const state = await sending.read();
    // Without the pause's traces it cannot be told what is stale: better no pass than old mail sent unasked.
    if (state === 'unavailable') return { ...NOTHING, finished: false };
    const pauseStands = state.pause !== undefined;
    const paused = isPaused(state, clock());

    const pass = await visitAll(deps, { atStart, paused, pausedAt: lastPaused(state) }, timeLeft);
    // At once: senders stop when it is missing for a day, so nothing that may fail comes before it.
    if (pass.report.finished && !paused) await sweeps.passed(clock());
    const reEnqueued = await reEnqueue(deps, pass.visits, pass.waiting);
    const { report, visits } = await visitEach(deps, pass.finishedOnes, timeLeft, pass.report);
    const feedbackSilent = await isFeedbackSilent(deps, [...pass.visits, ...visits]).catch(() => false);
    return { ...report, paused, pauseStands, reEnqueued, feedbackSilent };
  };

/** A pause that may be probed now stood until then; one that ended has left its end. */
const lastPaused = ({ pause, resumedAt }: Sending): Instant | undefined =>
  pause?.by === 'service' ? Math.max(pause.until, pause.probeUntil ?? 0) : resumedAt;

type Open = Dispatch & SweepMarks;

const visitAll = async (deps: SweepDeps, context: PassContext & { readonly paused: boolean }, timeLeft: () => boolean) => {
  const visits: Visit[] = [];
  const finishedOnes: Open[] = [];
  let report = NOTHING;
  let waiting = 0;
  for await (const dispatch of deps.dispatches.open()) {
    if (!timeLeft()) {
      report = { ...report, finished: false };
      break;
    }
    if (dispatch === 'unreadable') {
      report = { ...report, unreadable: report.unreadable + 1 };
      continue;
    }
    if (wasCounted(dispatch)) {
      if (context.atStart || finishedDueAt(deps, dispatch) <= deps.clock()) finishedOnes.push(dispatch);
      continue;
    }
    // Nothing of it may be sent.
    if (context.paused) continue;
    report = { ...report, open: report.open + 1 };
    if (!context.atStart && !isDue(deps, dispatch)) {
      waiting += waitingBefore(dispatch);
      continue;
    }
    // Trouble with one dispatch must not keep those after it from being looked at.
    const visit = await visitDispatch(deps, dispatch, context).catch(() => undefined);
    report = addVisit(report, visit);
    waiting += visit?.waiting ?? waitingBefore(dispatch);
    if (visit !== undefined) visits.push(visit);
  }
  return { report, visits, waiting, finishedOnes };
};

/** Those that nobody has looked at for longest come first; what there is no time for does not make the pass incomplete. */
const visitEach = async (deps: SweepDeps, finishedOnes: readonly Open[], timeLeft: () => boolean, before: SweepReport) => {
  const visits: Visit[] = [];
  let report = before;
  for (const dispatch of finishedOnes.toSorted((a, b) => (a.visitedAt ?? 0) - (b.visitedAt ?? 0))) {
    if (!timeLeft()) break;
    const visit = await visitFinished(deps, dispatch).catch(() => undefined);
    report = addVisit(report, visit);
    if (visit !== undefined) visits.push(visit);
  }
  return { report, visits };
};

/** A stopped one waits for a person, maybe for long: it has little to look after. */
const STOPPED_APART = 4;

const isDue = ({ clock, visitMs }: SweepDeps, { status, visitedAt, createdAt }: Open): boolean =>
  (visitedAt ?? createdAt) + visitMs * (status === 'STOPPED' ? STOPPED_APART : 1) <= clock();

/** @param visit undefined: it failed */
const addVisit = (report: SweepReport, visit: Visit | undefined): SweepReport =>
  visit === undefined
    ? { ...report, failed: report.failed + 1 }
    : {
        ...report,
        completed: report.completed + (visit.done === 'completed' ? 1 : 0),
        stopped: report.stopped + (visit.done === 'stopped' ? 1 : 0),
        tasksSentAgain: report.tasksSentAgain + visit.sentAgain,
        oldestPendingSeconds: Math.max(report.oldestPendingSeconds, visit.oldestPendingSeconds),
      };

/** The longest overdue first, no more than the queue seems to be missing: a second message does no harm, 50,000 of them would. */
const reEnqueue = async ({ sendQueue }: SweepDeps, visits: readonly Visit[], waiting: number): Promise<number> => {
  const stuck = visits.filter((visit) => visit.stuck.length > 0);
  if (stuck.length === 0) return 0;
  const missing = waiting - (await sendQueue.depth());
  let count = 0;
  for (const visit of stuck) {
    const keys = visit.stuck.slice(0, Math.min(AT_MOST, Math.max(missing, AT_LEAST)));
    const sent = await sendQueue.send(keys.map((key) => ({ key, delaySeconds: 0 })));
    count += sent.filter(Boolean).length;
  }
  return count;
};

/**
 * SENT needs no event, but without any no lost answer can be settled, and bounces go unseen. The newest mail is remembered, so
 * that this stands until an event comes, though nothing more is sent.
 */
const isFeedbackSilent = async ({ sweeps, witness, clock, stillMs }: SweepDeps, visits: readonly Visit[]): Promise<boolean> => {
  const old = visits.flatMap(({ newestSentAt }) =>
    newestSentAt !== undefined && newestSentAt + stillMs <= clock() ? [newestSentAt] : [],
  );
  const newest = await sweeps.newestSent(old.length === 0 ? undefined : old.reduce((a, b) => Math.max(a, b)));
  if (newest === undefined) return false;
  const seen = await witness.read();
  return seen !== 'unavailable' && isSilent(seen, newest);
};
