import { type Dispatch, endedAt } from '../../domain/dispatch/dispatch.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { SweepState } from '../ports/progress.ts';
import { inspectDispatch, isOver } from '../progress/inspect-dispatch.ts';
import { NOTHING_LEFT, type RecoverDeps, type Recovery } from './recover-dispatch.ts';

const HOUR_MS = 3_600_000;
/** Late events may trickle for days: nobody waits for the counts of a dispatch that ended long ago. */
const FARTHEST_APART_MS = 6 * HOUR_MS;
/** Visits are apart by so much of the time that had passed since the end. */
const PART_OF_AGE = 1 / 4;

/** When a finished dispatch is to be looked at: a while after its end, soon after a row changed or a task was begun, and else ever more seldom. */
export const finishedDueAt = (
  { stuckAfterMs, revisitMs }: Pick<RecoverDeps, 'stuckAfterMs'> & { readonly revisitMs: number },
  dispatch: Dispatch & SweepState,
): Instant => {
  const { sweptAt = 0 } = dispatch;
  const end = endedAt(dispatch);
  const isSame = dispatch.sweptGeneration === dispatch.generation && dispatch.sweptTasks === dispatch.tasks;
  if (!isSame || sweptAt < end) return end + stuckAfterMs;
  return sweptAt + Math.min(Math.max(revisitMs, (sweptAt - end) * PART_OF_AGE), FARTHEST_APART_MS);
};

/**
 * Counts a finished dispatch once more, since more became known of its mails or a row changed. Whoever ended it left it open;
 * it is closed here, once its end is a while ago and no task is left.
 */
export const recoverFinished = async (
  { dispatches, taskQueue, clock, stuckAfterMs }: RecoverDeps,
  dispatch: Dispatch & SweepState,
): Promise<Recovery> => {
  // Without a mark, so that the next pass looks again: only what is not done yet costs a message.
  const tasks = await dispatches.tasks(dispatch.dispatchId);
  if (tasks.length > 0) {
    const sent = await taskQueue.enqueueTasks(tasks);
    return { done: 'marked', ...NOTHING_LEFT, sentAgain: sent.filter(Boolean).length, newestSentAt: undefined };
  }
  const now = clock();
  const looked = await inspectDispatch(dispatches, dispatch, now);
  const { seen } = looked;
  // Rows that have expired cannot be counted any more: the counts stay what they were.
  const { counts, deliveries } = isOver(dispatch, looked) ? seen : { ...seen, ...dispatch };
  const isLast = endedAt(dispatch) + stuckAfterMs <= now;
  const stands = await dispatches.settle(dispatch, { counts, deliveries }, now, isLast);
  if (!stands) await dispatches.mark(dispatch, now);
  return { done: stands ? 'settled' : 'marked', ...NOTHING_LEFT, newestSentAt: seen.newestSentAt };
};
