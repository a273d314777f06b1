import type { Dispatch } from '../../../domain/dispatch/dispatch.ts';
import { shardPartition } from './keys.ts';

/** Quick enough for a dispatch of any size, and few enough connections and pages in memory. */
const AT_ONCE = 8;

/**
 * Reads all shards of a dispatch, a few at a time; none is begun after one has failed.
 * @param read reads the partition of a shard
 * @returns what was read of each, in the order of the shards
 */
export const readShards = async <T>(
  { dispatchId, shards }: Pick<Dispatch, 'dispatchId' | 'shards'>,
  read: (pk: string) => Promise<T>,
): Promise<T[]> => {
  const results: T[] = [];
  let next = 0;
  const readOn = async (): Promise<void> => {
    while (next < shards) {
      const shard = next;
      next += 1;
      try {
        results[shard] = await read(shardPartition(dispatchId, shard));
      } catch (error) {
        next = shards;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, readOn));
  return results;
};
