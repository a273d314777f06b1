import { type Dispatch, endedAt } from '../../domain/dispatch/dispatch.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import { isOver, lookOver } from '../progress/end-dispatch.ts';
import type { SweepMarks } from '../ports/ports.ts';
import { NOTHING_LEFT, type Visit, type VisitDeps } from './visit-dispatch.ts';

const HOUR_MS = 3_600_000;
/** Late events may trickle for days: nobody waits for the counts of a dispatch that ended long ago. */
const FARTHEST_APART_MS = 6 * HOUR_MS;
/** Visits are apart by so much of the time that had passed since the end. */
const PART_OF_AGE = 1 / 4;

/** When a finished dispatch is to be looked at: a while after its end, soon after a row changed or a task was begun, and else ever more seldom. */
export const finishedDueAt = (
  { stillMs, visitMs }: Pick<VisitDeps, 'stillMs'> & { readonly visitMs: number },
  dispatch: Dispatch & SweepMarks,
): Instant => {
  const { visitedAt = 0 } = dispatch;
  const end = endedAt(dispatch);
  const isSame = dispatch.visitedGeneration === dispatch.generation && dispatch.visitedTasks === dispatch.tasks;
  if (!isSame || visitedAt < end) return end + stillMs;
  return visitedAt + Math.min(Math.max(visitMs, (visitedAt - end) * PART_OF_AGE), FARTHEST_APART_MS);
};

/**
 * Counts a finished dispatch once more, since more became known of its mails or a row changed. Whoever ended it left it open;
 * it is closed here, once its end is a while ago and no task is left.
 */
export const visitFinished = async (
  { dispatches, taskQueue, clock, stillMs }: VisitDeps,
  dispatch: Dispatch & SweepMarks,
): Promise<Visit> => {
  // Without a mark, so that the next pass looks again: only what is not done yet costs a message.
  const tasks = await dispatches.tasks(dispatch.dispatchId);
  if (tasks.length > 0) {
    const sent = await taskQueue.carryOut(tasks);
    return { done: 'marked', ...NOTHING_LEFT, sentAgain: sent.filter(Boolean).length, newestSentAt: undefined };
  }
  const now = clock();
  const looked = await lookOver(dispatches, dispatch, now);
  const { seen } = looked;
  // Rows that have expired cannot be counted any more: the counts stay what they were.
  const { counts, deliveries } = isOver(dispatch, looked) ? seen : { ...seen, ...dispatch };
  const isLast = endedAt(dispatch) + stillMs <= now;
  const stands = await dispatches.settle(dispatch, { counts, deliveries }, now, isLast);
  if (!stands) await dispatches.mark(dispatch, now);
  return { done: stands ? 'settled' : 'marked', ...NOTHING_LEFT, newestSentAt: seen.newestSentAt };
};
