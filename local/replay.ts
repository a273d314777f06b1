// `npm run replay`: sends the messages of stream records that could not be relayed, here or on AWS.
import { parseArgs } from 'node:util';

import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';

import { CREDENTIALS } from './clients.ts';
import { replay, type ReplayOptions } from './repair/replay.ts';
import { findRunningStack } from './repair/running-stack.ts';
import { REGION } from './template/identity.ts';

const OPTIONS = {
  bucket: { type: 'string' },
  'send-queue-url': { type: 'string' },
  'task-queue-url': { type: 'string' },
} as const;

const ofLocalStack = (): ReplayOptions => {
  const { sqs, failureBucket, queueUrl, taskQueueUrl } = findRunningStack(process.env);
  const at = { endpoint: sqs, region: REGION, credentials: CREDENTIALS };
  return {
    // The queues' emulator is S3, too.
    s3: new S3Client({ ...at, forcePathStyle: true }),
    sqs: new SQSClient({ ...at, maxAttempts: 1 }),
    bucket: failureBucket,
    sendQueueUrl: queueUrl,
    taskQueueUrl,
  };
};

/** On AWS everything is named, by the outputs of the stacks; region and credentials come from the environment. */
const readOptions = (): ReplayOptions => {
  const given = parseArgs({ options: OPTIONS }).values;
  const { bucket, 'send-queue-url': sendQueueUrl, 'task-queue-url': taskQueueUrl } = given;
  if (Object.keys(given).length === 0) return ofLocalStack();
  if (bucket === undefined || sendQueueUrl === undefined || taskQueueUrl === undefined) {
    throw new Error('On AWS give all of --bucket, --send-queue-url and --task-queue-url; for the local stack none of them.');
  }
  return { s3: new S3Client({}), sqs: new SQSClient({ maxAttempts: 1 }), bucket, sendQueueUrl, taskQueueUrl };
};

const run = async (): Promise<void> => {
  let kept = 0;
  let objects = 0;
  for await (const replayed of replay(readOptions())) {
    objects += 1;
    if (replayed.outcome === 'kept') {
      kept += 1;
      console.log(`kept     ${replayed.key}: ${replayed.reason}`);
    } else console.log(`relayed  ${replayed.key}, records: ${replayed.records}`);
  }
  console.log(`objects: ${objects}, of these kept: ${kept}`);
  if (kept > 0) process.exitCode = 1;
};

run().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
