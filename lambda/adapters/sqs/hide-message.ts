import { ChangeMessageVisibilityCommand, type SQSClient } from '@aws-sdk/client-sqs';

/** Makes a message visible again after a time; if that fails, the queue's own time stands. */
export const createHideMessage =
  (client: SQSClient, QueueUrl: string) =>
  async (ReceiptHandle: string, VisibilityTimeout: number): Promise<void> => {
    await client.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout })).catch(() => undefined);
  };
