import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';

/** Messages of a queue; SQS counts them approximately. */
export interface Depth {
  readonly visible: number;
  readonly inFlight: number;
  readonly delayed: number;
}

const NAMES = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const;

/** Counts the messages of a queue. */
export const readDepth = async (sqs: SQSClient, queueUrl: string): Promise<Depth> => {
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: [...NAMES] }));
  const [visible = 0, inFlight = 0, delayed = 0] = NAMES.map((name) => Number(Attributes[name] ?? 0));
  return { visible, inFlight, delayed };
};

/** All messages of a queue. */
export const totalOf = ({ visible, inFlight, delayed }: Depth): number => visible + inFlight + delayed;
