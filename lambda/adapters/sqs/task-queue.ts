import type { TaskQueue } from '../../application/ports/queues.ts';
import { toAsciiJson } from '../../contracts/queue/queue-messages.ts';
import { sendBatches, type SqsDeps } from './send-batches.ts';

/** The queue of long work on dispatches. */
export const createTaskQueue = (deps: SqsDeps): TaskQueue => ({
  expand: (batches, delaySeconds = 0) =>
    sendBatches(
      deps,
      batches.map(({ dispatchId, batch }) => ({
        body: () => toAsciiJson({ v: 1, id: deps.newId(), kind: 'expand', dispatchId, batch }),
        groupId: dispatchId,
        delaySeconds,
      })),
    ),

  enqueueTasks: (tasks, delaySeconds = 0) =>
    sendBatches(
      deps,
      tasks.map(({ dispatchId, task }) => ({
        body: () => toAsciiJson({ v: 1, id: deps.newId(), kind: 'run', dispatchId, task }),
        groupId: dispatchId,
        delaySeconds,
      })),
    ),
});
