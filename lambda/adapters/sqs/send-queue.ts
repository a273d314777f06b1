import { ChangeMessageVisibilityBatchCommand } from '@aws-sdk/client-sqs';

import type { SendQueue } from '../../application/ports/queues.ts';
import { toAsciiJson } from '../../contracts/queue/queue-messages.ts';
import { toIso } from '../../domain/shared/instant.ts';
import { createQueueDepth } from './queue-depth.ts';
import { sendBatches, type SqsDeps } from './send-batches.ts';

/** SQS's longest DelaySeconds. */
const LONGEST_DELAY_SECONDS = 900;
const ENTRIES_PER_CALL = 10;

/** The queue of recipients to send. */
export const createSendQueue = (deps: SqsDeps): SendQueue => ({
  send: (messages) =>
    sendBatches(
      deps,
      messages.map(({ key: { dispatchId, shard, applyId }, delaySeconds }) => ({
        body: () => toAsciiJson({ v: 1, id: deps.newId(), dispatchId, shard, applyId, enqueuedAt: toIso(deps.clock()) }),
        groupId: dispatchId,
        delaySeconds: Math.min(LONGEST_DELAY_SECONDS, Math.max(0, delaySeconds)),
      })),
    ),

  async hide(messages) {
    for (let from = 0; from < messages.length; from += ENTRIES_PER_CALL) {
      const entries = messages.slice(from, from + ENTRIES_PER_CALL).map(({ receiptHandle, seconds }, i) => ({
        Id: String(i),
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: seconds,
      }));
      const call = async () => {
        await deps.client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: deps.queueUrl, Entries: entries }));
      };
      // Failing twice, the queue's own visibility holds: the message comes back later than planned, and is not lost.
      await call()
        .catch(call)
        .catch(() => undefined);
    }
  },

  ...createQueueDepth(deps),
});
