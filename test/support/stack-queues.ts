import { GetQueueAttributesCommand, PurgeQueueCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';

import { CREDENTIALS } from '../../local/clients.ts';
import { REGION } from '../../local/cloudformation/types/identity.ts';
import { redrive } from '../../local/redrive/redrive.ts';
import type { StackFile } from '../../local/stack-file.ts';

/** What a queue holds. */
export interface Depth {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

/** The queues of a running stack, seen from outside, by a client of its own. */
export const openQueues = ({ sqs: endpoint, queueUrl, deadLetterQueueUrl, ...urls }: StackFile) => {
  const sqs = new SQSClient({ endpoint, region: REGION, credentials: CREDENTIALS });
  const depth = async (QueueUrl: string): Promise<Depth> => {
    const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    return {
      visible: Number(Attributes['ApproximateNumberOfMessages']),
      inFlight: Number(Attributes['ApproximateNumberOfMessagesNotVisible']),
      delayed: Number(Attributes['ApproximateNumberOfMessagesDelayed']),
    };
  };
  const send = async (QueueUrl: string, body: unknown): Promise<void> => {
    const MessageBody = typeof body === 'string' ? body : JSON.stringify(body);
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
  };
  return {
    sends: () => depth(queueUrl),
    feedback: () => depth(urls.feedbackQueueUrl),
    /** How many dead letters there are of sends, and of feedback. */
    deadLetters: async () => (await depth(deadLetterQueueUrl)).visible,
    deadFeedback: async () => (await depth(urls.feedbackDeadLetterQueueUrl)).visible,
    put: (body: unknown) => send(queueUrl, body),
    putDead: (body: unknown) => send(deadLetterQueueUrl, body),
    putFeedback: (body: unknown) => send(urls.feedbackQueueUrl, body),
    /** Moves the dead letters of sends back, as the console does. @returns how many there were */
    redrive: () => redrive({ sqs, deadLetterQueueUrl, queueUrl }),
    /** Removes all dead letters. */
    purge: async () => {
      const deadOnes = [deadLetterQueueUrl, urls.feedbackDeadLetterQueueUrl];
      await Promise.all(deadOnes.map((QueueUrl) => sqs.send(new PurgeQueueCommand({ QueueUrl }))));
    },
    close: () => {
      sqs.destroy();
    },
  };
};
