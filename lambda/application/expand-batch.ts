import type { BatchKey, BatchRepository, Clock } from './ports.ts';

/**
 * Makes recipients of a batch. May run twice or stop half-way: recipients that are there stay as they are, and the
 * batch goes only when all of its recipients are there.
 */
export const createExpandBatch =
  (batches: BatchRepository, clock: Clock) =>
  async (key: BatchKey): Promise<'expanded' | 'already-expanded'> => {
    const batch = await batches.find(key);
    if (batch === undefined) return 'already-expanded';
    await batches.putRecipients(key, batch.addressees, batch.shards, clock());
    await batches.remove(key);
    return 'expanded';
  };
