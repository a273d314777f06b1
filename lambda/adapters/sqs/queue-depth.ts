import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';

import type { SendQueue } from '../../application/ports/queues.ts';

export interface QueueDepthDeps {
  readonly client: SQSClient;
  readonly queueUrl: string;
}

const COUNTS = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const;

/** Asks how many messages a queue holds. */
export const createQueueDepth = ({ client, queueUrl }: QueueDepthDeps): Pick<SendQueue, 'depth'> => ({
  async depth() {
    const { Attributes = {} } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [...COUNTS] }),
    );
    return COUNTS.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
  },
});
