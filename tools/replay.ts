// `npm run replay`: handles stream records that could not be handled when they came, here or on AWS.
import { parseArgs } from 'node:util';

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

import { createTableClient } from '../lambda/adapters/dynamo/client/table-client.ts';
import { createEventBridgeClient } from '../lambda/adapters/eventbridge/eventbridge-client.ts';
import { createS3Client } from '../lambda/adapters/s3/s3-client.ts';
import { createSqsClient } from '../lambda/adapters/sqs/sqs-client.ts';
import { CREDENTIALS } from '../local/clients.ts';
import { REGION } from '../local/cloudformation/types/identity.ts';
import { findRunningStack } from '../local/redrive/running-stack.ts';
import { countRecords } from './replay/count-records.ts';
import { relayRecords } from './replay/relay-records.ts';
import { replay, type ReplayOptions } from './replay/replay.ts';

const OPTIONS = {
  bucket: { type: 'string' },
  'send-queue-url': { type: 'string' },
  'task-queue-url': { type: 'string' },
  'table-name': { type: 'string' },
  'event-bus-name': { type: 'string' },
} as const;

const ofLocalStack = (): ReplayOptions => {
  const { sqs, dynamodb, busUrl, failureBucket, queueUrl, taskQueueUrl, tableName, eventBusName } = findRunningStack(process.env);
  const at = (endpoint: string) => ({ endpoint, region: REGION, credentials: CREDENTIALS });
  return {
    // The queues' emulator is S3, too.
    s3: new S3Client({ ...at(sqs), forcePathStyle: true }),
    bucket: failureBucket,
    giveBack: {
      relay: relayRecords({
        sqs: new SQSClient({ ...at(sqs), maxAttempts: 1 }),
        sendQueueUrl: queueUrl,
        taskQueueUrl,
      }),
      progress: countRecords({
        table: DynamoDBDocumentClient.from(new DynamoDBClient(at(dynamodb))),
        tableName,
        bus: new EventBridgeClient(at(busUrl)),
        busName: eventBusName,
      }),
    },
  };
};

/** On AWS everything is named, by the outputs of the stacks; region and credentials come from the environment. */
const readOptions = (): ReplayOptions => {
  const given: Readonly<Record<string, string | undefined>> = parseArgs({ options: OPTIONS }).values;
  if (Object.keys(given).length === 0) return ofLocalStack();
  const named = (name: keyof typeof OPTIONS): string => {
    const value = given[name];
    if (value !== undefined) return value;
    const all = Object.keys(OPTIONS).map((each) => `--${each}`);
    throw new Error(`--${name} is missing. On AWS give all of ${all.join(', ')}; for the local stack none of them.`);
  };
  return {
    s3: createS3Client(15_000),
    bucket: named('bucket'),
    giveBack: {
      relay: relayRecords({
        sqs: createSqsClient(),
        sendQueueUrl: named('send-queue-url'),
        taskQueueUrl: named('task-queue-url'),
      }),
      progress: countRecords({
        table: createTableClient(5_000),
        tableName: named('table-name'),
        bus: createEventBridgeClient(),
        busName: named('event-bus-name'),
      }),
    },
  };
};

const run = async (): Promise<void> => {
  let kept = 0;
  let objects = 0;
  for await (const replayed of replay(readOptions())) {
    objects += 1;
    if (replayed.outcome === 'kept') {
      kept += 1;
      console.log(`kept     ${replayed.key}: ${replayed.reason}`);
    } else console.log(`${replayed.by.padEnd(8)} ${replayed.key}, records: ${replayed.records}`);
  }
  console.log(`objects: ${objects}, of these kept: ${kept}`);
  if (kept > 0) process.exitCode = 1;
};

run().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
