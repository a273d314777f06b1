import type { Instant } from '../../domain/shared/instant.ts';
import type { SweepStates } from '../ports/control.ts';
import type { Clock } from '../ports/system.ts';
import { inspectedAt, type Open } from './list-open.ts';

export interface RoundDeps {
  readonly sweeps: SweepStates;
  readonly clock: Clock;
}

interface Pass {
  readonly startedAt: Instant;
  readonly left: readonly Open[];
  readonly isListed: boolean;
  readonly hasInspected: boolean;
}

/** Rests of an older round say nothing any more: there was an outage since, or the table was restored. */
const LONGEST_ROUND_MS = 6 * 3_600_000;

/**
 * Records a round as passed once every dispatch that was due has been inspected since its beginning. A round may take several
 * passes; without it a service with too many rows for one pass would never have passed, and senders would stop after a day.
 * @param left dispatches that are due and for which this pass had no time
 * @param hasInspected whether this pass inspected a dispatch
 * @returns whether the round is finished
 */
export const finishRound = async (
  { sweeps, clock }: RoundDeps,
  { startedAt, left, isListed, hasInspected }: Pass,
): Promise<boolean> => {
  if (!isListed) return false;
  const stored = left.length === 0 ? undefined : await sweeps.openRound();
  const since = stored === undefined || stored + LONGEST_ROUND_MS < startedAt ? startedAt : stored;
  const isFinished = left.every((dispatch) => inspectedAt(dispatch) >= since);
  await (isFinished ? sweeps.passed(clock()) : sweeps.keepRound(since, hasInspected ? clock() : undefined));
  return isFinished;
};
