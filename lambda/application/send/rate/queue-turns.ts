import type { Instant } from '../../../domain/shared/instant.ts';
import type { Clock, Random } from '../../ports/system.ts';
import type { Pacer } from './pacer.ts';

/** No message is hidden for longer because of the pace, which may be another by then. */
const LONGEST_HIDDEN_MS = 15_000;

/** Part of a message's time on the queue that is random, so that those of several senders do not come back together. */
const RANDOM_PART = 0.2;

/** Says when messages that cannot wait in a sender's hand are expected to be due. */
export interface QueueTurns {
  next(): Promise<Instant>;
}

/** Turns of one sender environment, one after the other at its pace. */
export const createQueueTurns = ({
  pacer,
  clock,
  random,
}: {
  readonly pacer: Pick<Pacer, 'expect'>;
  readonly clock: Clock;
  readonly random: Random;
}): QueueTurns => {
  let last: Instant = 0;
  return {
    async next() {
      const now = clock();
      last = Math.min(Math.max(now, last) + (await pacer.expect(1)), now + LONGEST_HIDDEN_MS);
      return Math.round(last - (last - now) * RANDOM_PART * random());
    },
  };
};
