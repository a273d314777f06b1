import { isSilent } from '../../domain/sending/watermark.ts';
import type { FeedbackRepository, SweepStates } from '../ports/control.ts';
import type { Clock } from '../ports/system.ts';
import type { Recovery } from './recover-dispatch.ts';

export interface WatchFeedbackDeps {
  readonly sweeps: SweepStates;
  readonly feedback: FeedbackRepository;
  readonly clock: Clock;
  readonly stuckAfterMs: number;
}

/**
 * SENT needs no event, but without any no lost answer can be resolved, and bounces go unseen. The newest mail is remembered, so
 * that this stands until an event comes, though nothing more is sent.
 */
export const isFeedbackSilent = async (
  { sweeps, feedback, clock, stuckAfterMs }: WatchFeedbackDeps,
  visits: readonly Pick<Recovery, 'newestSentAt'>[],
): Promise<boolean> => {
  const old = visits.flatMap(({ newestSentAt }) =>
    newestSentAt !== undefined && newestSentAt + stuckAfterMs <= clock() ? [newestSentAt] : [],
  );
  const newest = await sweeps.newestSent(old.length === 0 ? undefined : old.reduce((a, b) => Math.max(a, b)));
  if (newest === undefined) return false;
  const seen = await feedback.read();
  return seen !== 'unavailable' && isSilent(seen, newest);
};
