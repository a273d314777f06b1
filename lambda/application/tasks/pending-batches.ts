import type { TaskQueue } from '../ports/queues.ts';
import type { BatchRepository } from '../ports/tasks.ts';
import { RowsUnfinishedError } from './rows-unfinished.ts';

/** What tasks do with the batches of their dispatch that are not expanded yet. */
export interface LeftBatchesDeps {
  readonly batches: Pick<BatchRepository, 'left' | 'drop'>;
  readonly taskQueue: Pick<TaskQueue, 'expand'>;
}

/** Removes the batches of a cancelled dispatch unread; their objects become orphans. @returns how many recipients were cancelled */
export const dropLeftBatches = async ({ batches }: LeftBatchesDeps, dispatchId: string): Promise<number> => {
  let cancelled = 0;
  // One after the other: each of these writes is about the dispatch too, so side by side they would only collide.
  for (const { count, ...key } of await batches.left(dispatchId)) if (await batches.drop(key, count)) cancelled += count;
  return cancelled;
};

/** Sends the batches of a resumed dispatch again: an object that was unreadable may have been restored. */
export const expandLeftBatches = async ({ batches, taskQueue }: LeftBatchesDeps, dispatchId: string): Promise<void> => {
  const sent = await taskQueue.expand(await batches.left(dispatchId));
  if (sent.includes(false)) throw new RowsUnfinishedError('batches could not be sent');
};
