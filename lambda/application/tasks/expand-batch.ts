import type { BatchKey } from '../ports/queues.ts';
import type { Clock } from '../ports/system.ts';
import type { BatchRepository } from '../ports/tasks.ts';

/**
 * What became of a batch. `postponed`: time ran out, its message must come again; `dropped`: its dispatch is cancelled;
 * `stopped`: its object is gone or altered, and that stopped the dispatch; `unreadable`: the same, in one that was stopped before.
 */
export type Expansion = 'expanded' | 'already-expanded' | 'postponed' | 'dropped' | 'stopped' | 'unreadable';

export type ExpandBatch = (key: BatchKey, hasTime: () => boolean) => Promise<Expansion>;

/**
 * Makes recipients of a batch. May run twice or stop half-way: recipients that are there stay as they are, and the
 * batch goes only when all of its recipients are there. Throws {@link Unavailable} for trouble that passes.
 */
export const createExpandBatch =
  (batches: BatchRepository, clock: Clock): ExpandBatch =>
  async (key, hasTime) => {
    const batch = await batches.find(key);
    if (batch === undefined) return 'already-expanded';
    // Unread, so that a cancellation works although the object is gone.
    if (batch.status === 'CANCELLED') return (await batches.drop(key, batch.count)) ? 'dropped' : 'already-expanded';

    const recipientInputs = await batches.recipients(batch);
    if (recipientInputs === 'unreadable') return stop(batches, key, batch, clock);
    if (!(await batches.putRecipients(key, recipientInputs, batch.shards, clock(), hasTime))) return 'postponed';
    await batches.remove(key, batch);
    return 'expanded';
  };

/** Another worker may have expanded the batch and deleted its object meanwhile: then there is nothing to stop. */
const stop = async (
  batches: BatchRepository,
  key: BatchKey,
  batch: Parameters<BatchRepository['stopUnreadable']>[1],
  clock: Clock,
): Promise<Expansion> => {
  switch (await batches.stopUnreadable(key, batch, clock())) {
    case 'stopped':
      return 'stopped';
    case 'not-named':
      return 'already-expanded';
    case 'not-sending':
      return 'unreadable';
  }
};
