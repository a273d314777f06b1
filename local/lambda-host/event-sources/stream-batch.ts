import type { BatchAnswer } from './batch-answer.ts';

/** What the batch rules need to know of a record. */
export interface Sequenced {
  readonly sequenceNumber: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** Why records were given up. */
export type DiscardReason = 'RetryAttemptsExhausted' | 'RecordAgeExceeded';

/** The mapping's settings and what it acts through. */
export interface StreamBatchOptions<T extends Sequenced> {
  readonly bisect: boolean;
  /** -1: for ever. */
  readonly maxRetries: number;
  /** -1: no limit. */
  readonly maxAgeSeconds: number;
  readonly invoke: (records: readonly T[]) => Promise<BatchAnswer>;
  readonly discard: (records: readonly T[], reason: DiscardReason, attempts: number) => Promise<void>;
  /** Everything up to this record is over and done with. */
  readonly checkpoint: (record: T) => void;
  readonly now: () => number;
  /** Waits before a retry; answers false if there shall be none because the stack stops. */
  readonly waitToRetry: (attempt: number) => Promise<boolean>;
}

/**
 * Carries one batch of a shard to its end, in order: done, retried from the first failed record, cut in two, or given up.
 * Answers false if it was left unfinished because the stack stops.
 */
export const carryBatch = async <T extends Sequenced>(batch: readonly T[], options: StreamBatchOptions<T>): Promise<boolean> => {
  let rest = batch;
  let attempts = 0;
  const passed = (count: number) => {
    const last = rest[count - 1];
    if (last) options.checkpoint(last);
    rest = rest.slice(count);
  };
  while (rest.length > 0) {
    const oldest = options.maxAgeSeconds < 0 ? -Infinity : options.now() - options.maxAgeSeconds * 1000;
    const young = rest.findIndex(({ createdAt }) => createdAt >= oldest);
    const expired = young < 0 ? rest.length : young;
    if (expired > 0) {
      await options.discard(rest.slice(0, expired), 'RecordAgeExceeded', attempts);
      passed(expired);
      continue;
    }
    const answer = await options.invoke(rest);
    if (answer.kind === 'failed' && options.bisect && rest.length > 1) {
      // Cutting in two uses up no retry: it is how the one bad record is found.
      const middle = Math.ceil(rest.length / 2);
      if (!(await carryBatch(rest.slice(0, middle), options))) return false;
      rest = rest.slice(middle);
      attempts = 0;
      continue;
    }
    if (answer.kind === 'done') {
      const failed = new Set(answer.failures);
      const first = rest.findIndex(({ sequenceNumber }) => failed.has(sequenceNumber));
      if (first < 0) {
        passed(rest.length);
        continue;
      }
      if (first > 0) attempts = 0;
      passed(first);
    }
    attempts += 1;
    if (options.maxRetries >= 0 && attempts > options.maxRetries) {
      await options.discard(rest, 'RetryAttemptsExhausted', attempts);
      passed(rest.length);
      continue;
    }
    if (!(await options.waitToRetry(attempts))) return false;
  }
  return true;
};
