import { type Bucket, chunkSize, newBucket, NO_RESTRAINT, paceOf, restraintNow, take, throttled } from '../domain/pace.ts';
import type { Clock } from './ports.ts';

/** Keeps one sender within its share of the account's rate. */
export interface Pacer {
  /** How many calls to prepare at once. */
  chunkSize(): Promise<number>;
  /** Books `n` calls and says in how many milliseconds they may start. */
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
  /** Mails per second of the account. */
  readonly maxSendRate: () => Promise<number>;
  readonly senders: number;
  readonly parallelCalls: number;
}

/** A pacer for one sender environment; its state lives as long as the environment. */
export const createPacer = ({ clock, maxSendRate, senders, parallelCalls }: PacerDeps): Pacer => {
  let bucket: Bucket = newBucket(clock());
  let restraint = NO_RESTRAINT;

  const pace = async (): Promise<number> => paceOf(await maxSendRate(), senders) * restraintNow(restraint, clock());

  return {
    chunkSize: async () => chunkSize(await pace(), parallelCalls),
    async book(n) {
      const current = await pace();
      const taken = take(bucket, n, { pace: current, capacity: chunkSize(current, parallelCalls) }, clock());
      bucket = taken.bucket;
      return taken.waitMs;
    },
    unbook(n) {
      bucket = { ...bucket, tokens: bucket.tokens + n };
    },
    throttled() {
      restraint = throttled(restraint, clock());
    },
    expect: async (n) => Math.ceil((n / (await pace())) * 1000),
  };
};
