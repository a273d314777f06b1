import { isPaused, type Sending } from '../../domain/sending/pause.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { FeedbackRepository, SendingRepository, SweepStates, UnclearLedger } from '../ports/control.ts';
import type { SendQueue } from '../ports/queues.ts';
import { finishRound } from './finish-round.ts';
import { inspectFinished, inspectOpen } from './inspect-open.ts';
import { listOpen, type OpenList } from './list-open.ts';
import type { RecoverDeps } from './recover-dispatch.ts';
import { requeueStuck } from './requeue-stuck.ts';
import { NOTHING, type SweepReport } from './sweep-report.ts';
import { type RemainingMs, runSteps, shareTime, type SweepStep } from './sweep-step.ts';
import { isFeedbackSilent } from './watch-feedback.ts';

export type { SweepReport } from './sweep-report.ts';

export interface SweepDeps extends RecoverDeps {
  readonly sendQueue: SendQueue;
  readonly sending: SendingRepository;
  readonly sweeps: SweepStates;
  readonly feedback: FeedbackRepository;
  readonly ledger: Pick<UnclearLedger, 'size'>;
  /** The rows of one dispatch are looked at no more often than this. */
  readonly revisitMs: number;
  /** What else each pass does, before dispatches are looked at and after. */
  readonly firstSteps?: readonly SweepStep[];
  readonly lastSteps?: readonly SweepStep[];
}

type Situation = { readonly atStart: boolean; readonly remainingMs: RemainingMs };

/** One pass of the scheduled recovery, with the steps before it and after it. */
export const createSweep =
  (deps: SweepDeps) =>
  async ({ atStart, remainingMs }: Situation): Promise<SweepReport> => {
    const before = await runSteps(deps.firstSteps ?? [], remainingMs);
    const report = await recover(deps, { atStart, remainingMs });
    const after = await runSteps(deps.lastSteps ?? [], remainingMs);
    return { ...report, failed: report.failed + before + after };
  };

/**
 * Looks over every dispatch that is not finished, and puts back on its way what has lost its message; then over those that are
 * finished and not closed, for which there is always time later.
 */
const recover = async (deps: SweepDeps, { atStart, remainingMs }: Situation): Promise<SweepReport> => {
  const startedAt = deps.clock();
  const state = await deps.sending.read();
  // Without the pause's traces it cannot be told what is stale: better no pass than old mail sent unasked.
  if (state === 'unavailable') return { ...NOTHING, finished: false };
  const pauseStands = state.pause !== undefined;
  const paused = isPaused(state, startedAt);
  const hasTime = shareTime(remainingMs);

  const listed = await listOpen(deps, atStart, () => hasTime('inspecting'));
  // While nothing may be sent, what is not finished waits.
  const open = paused ? withoutUnfinished(listed) : listed;
  const context = { atStart, pausedAt: lastPaused(state), hasTime: () => hasTime('inspecting') };
  const inspection = await inspectOpen(deps, open, context);
  const { left, stuck, waiting } = inspection;
  // At once: senders stop when no round has passed for a day, so nothing that may fail comes before it.
  const hasInspected = inspection.visits.length > 0;
  const pass = { startedAt, left, isListed: open.isComplete, hasInspected };
  const finished = paused ? open.isComplete : await finishRound(deps, pass);
  const reEnqueued = await requeueStuck(deps, stuck, waiting, () => hasTime('requeueing'));
  const { report, visits } = await inspectFinished(deps, open.finished, () => hasTime('closing'), inspection.report);
  const feedbackSilent = await isFeedbackSilent(deps, [...inspection.visits, ...visits]).catch(() => false);
  const progressed = finished || hasInspected;
  return { ...report, progressed, finished, paused, pauseStands, reEnqueued, feedbackSilent };
};

const withoutUnfinished = (list: OpenList): OpenList => ({ ...list, due: [], notDue: [] });

/** A pause that may be probed now stood until then; one that ended has left its end. */
const lastPaused = ({ pause, resumedAt }: Sending): Instant | undefined =>
  pause?.by === 'service' ? Math.max(pause.until, pause.probeUntil ?? 0) : resumedAt;
