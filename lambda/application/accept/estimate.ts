import { type AccountQuota, estimateSending, type SendEstimate } from '../../domain/dispatch/send-estimate.ts';
import { isPaused } from '../../domain/sending/pause.ts';
import type { SendingRepository } from '../ports/control.ts';
import type { SendQueue } from '../ports/queues.ts';
import type { Clock, Sleep } from '../ports/system.ts';

export interface EstimateDeps {
  /** What the account allows; undefined: nothing can be said. */
  readonly accountQuota: () => Promise<AccountQuota | undefined>;
  /** Mails per second that the deployed senders can send: no estimate promises more. */
  readonly ceiling: number;
  readonly queue: Pick<SendQueue, 'depth'>;
  readonly sending: Pick<SendingRepository, 'read'>;
  readonly clock: Clock;
  readonly sleep: Sleep;
}

/** An estimate is nice to have: an answer never waits longer for it than this. */
const LONGEST_WAIT_MS = 300;

/**
 * Begins to ask how sending stands. What it returns is called once the estimate is wanted: so the questions are under way
 * while a dispatch is stored, and its own messages are not yet among those that wait. Neither ever throws.
 */
export type BeginEstimate = () => (total: number) => Promise<SendEstimate | undefined>;

/** Estimates when a dispatch will have been sent; undefined: that cannot be told, or not in time. */
export const createBeginEstimate = (deps: EstimateDeps): BeginEstimate => {
  const { accountQuota, ceiling, queue, sending, clock, sleep } = deps;

  const ask = async () => {
    const [quota, waiting, state] = await Promise.all([accountQuota(), queue.depth(), sending.read()]);
    // Nobody knows when a pause ends.
    if (quota === undefined || state === 'unavailable' || isPaused(state, clock())) return undefined;
    return { quota, waiting };
  };

  return () => {
    const asked = ask().catch(() => undefined);
    return async (total) => {
      const known = await Promise.race([asked, sleep(LONGEST_WAIT_MS).then(() => undefined)]);
      return known && estimateSending({ ...known.quota, ceiling }, known.waiting, total, clock());
    };
  };
};
