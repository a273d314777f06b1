/** What a mapping waits for before it hands records over. */
export interface BatchingWindowOptions<T> {
  readonly batchSize: number;
  /** How long after the first record at most; 0: it does not wait. */
  readonly windowMs: number;
  /** Whether the function gets the record. */
  readonly matches: (record: T) => boolean;
  readonly now: () => number;
}

/**
 * Gathers the records of a shard until there are enough for a batch, the time is over, or the shard ends.
 * @returns takes what was read, and answers all that is to be handed over now, in order
 */
export const createBatchingWindow = <T>({ batchSize, windowMs, matches, now }: BatchingWindowOptions<T>) => {
  let held: T[] = [];
  let wanted = 0;
  let dueAt = 0;
  return (records: readonly T[], isEnd: boolean): readonly T[] => {
    const more = records.filter(matches).length;
    if (wanted === 0 && more > 0) dueAt = now() + windowMs;
    held.push(...records);
    wanted += more;
    // Of those that the function does not get only the place is kept, so they need not wait.
    if (wanted > 0 && wanted < batchSize && now() < dueAt && !isEnd) return [];
    const due = held;
    [held, wanted] = [[], 0];
    return due;
  };
};
