import {
  type Bucket,
  chunkSize,
  newBucket,
  NO_RESTRAINT,
  paceOf,
  restraintNow,
  take,
  throttled,
} from '../../../domain/sending/pace.ts';
import type { Clock } from '../../ports/system.ts';
import type { SendRate } from './send-rate.ts';

/** Keeps one sender within its share of the account's rate. */
export interface Pacer {
  /** How many calls to prepare at once. */
  chunkSize(): Promise<number>;
  /** Books `n` calls and says in how many milliseconds they may start; Infinity: so late that the queue should keep them. */
  book(n: number): Promise<number>;
  /** Gives back what was booked and not used. */
  unbook(n: number): void;
  /** SES said that the rate was exceeded. */
  throttled(): void;
  /** Milliseconds that `n` calls take at the present pace. */
  expect(n: number): Promise<number>;
}

export interface PacerDeps {
  readonly clock: Clock;
  readonly sendRate: () => Promise<SendRate>;
  /** The part of the rate that this service uses. */
  readonly rateShare: number;
  readonly senders: number;
  readonly parallelCalls: number;
}

/** While the rate is a guess no message is hidden for longer: the true rate is known soon, and may be much higher. */
const LONGEST_GUESS_MS = 10_000;

/** A pacer for one sender environment; its state lives as long as the environment. */
export const createPacer = ({ clock, sendRate, rateShare, senders, parallelCalls }: PacerDeps): Pacer => {
  let bucket: Bucket = newBucket(clock());
  let restraint = NO_RESTRAINT;

  const paceNow = async () => {
    const { perSecond, isGuess } = await sendRate();
    return { pace: paceOf(perSecond, rateShare, senders) * restraintNow(restraint, clock()), isGuess };
  };

  return {
    chunkSize: async () => chunkSize((await paceNow()).pace, parallelCalls),
    async book(n) {
      const { pace, isGuess } = await paceNow();
      const taken = take(bucket, n, { pace, capacity: chunkSize(pace, parallelCalls) }, clock());
      bucket = taken.bucket;
      return isGuess && taken.waitMs > LONGEST_GUESS_MS ? Infinity : taken.waitMs;
    },
    unbook(n) {
      bucket = { ...bucket, tokens: bucket.tokens + n };
    },
    throttled() {
      restraint = throttled(restraint, clock());
    },
    async expect(n) {
      const { pace, isGuess } = await paceNow();
      const expectedMs = Math.ceil((n / pace) * 1000);
      return isGuess ? Math.min(LONGEST_GUESS_MS, expectedMs) : expectedMs;
    },
  };
};
