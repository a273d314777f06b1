import { SQSClient } from '@aws-sdk/client-sqs';

/**
 * The queues' client. One try: a send that the SDK repeats by itself would repeat our message id, and a copy of a dead
 * letter would pass for its redrive. By default the SDK waits for an answer for ever.
 */
export const createSqsClient = (): SQSClient =>
  new SQSClient({
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
  });
