import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';

import type { FakeSes } from '../fake-ses/fake-ses.ts';
import type { RepairableQueue } from '../redrive/repairable-queues.ts';

/** Messages of one queue, and of its dead letters. */
export interface Backlog {
  readonly name: string;
  readonly visible: number;
  readonly delayed: number;
  readonly inFlight: number;
  readonly dead: number;
}

/** What the page shows around the widget. */
export interface OpsState {
  readonly queues: readonly Backlog[];
  readonly fakeSes: ReturnType<FakeSes['look']>;
}

/** Where it is read. */
export interface StateSources {
  readonly sqs: SQSClient;
  readonly queues: Readonly<Record<string, RepairableQueue>>;
  readonly fakeSes: Pick<FakeSes, 'look'>;
}

const countMessages = async (sqs: SQSClient, url: string) => {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({
      QueueUrl: url,
      AttributeNames: [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesDelayed',
        'ApproximateNumberOfMessagesNotVisible',
      ],
    }),
  );
  return {
    visible: Number(Attributes['ApproximateNumberOfMessages'] ?? 0),
    delayed: Number(Attributes['ApproximateNumberOfMessagesDelayed'] ?? 0),
    inFlight: Number(Attributes['ApproximateNumberOfMessagesNotVisible'] ?? 0),
  };
};

/** How everything stands now. */
export const readState = async ({ sqs, queues, fakeSes }: StateSources): Promise<OpsState> => {
  const measure = async ([name, { queueUrl, deadLetterQueueUrl }]: readonly [string, RepairableQueue]): Promise<Backlog> => {
    const [own, dead] = await Promise.all([countMessages(sqs, queueUrl), countMessages(sqs, deadLetterQueueUrl)]);
    return { name, ...own, dead: dead.visible + dead.delayed + dead.inFlight };
  };
  return { queues: await Promise.all(Object.entries(queues).map(measure)), fakeSes: fakeSes.look() };
};
