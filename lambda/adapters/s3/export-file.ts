import type { TaskKey } from '../../application/ports/queues.ts';

/** Name of an export's file in the bucket. */
export const exportFile = ({ dispatchId, task }: TaskKey): string => `${dispatchId}/${task}.csv`;
