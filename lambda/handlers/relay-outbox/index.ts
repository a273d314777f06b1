import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { createQuarantine } from '../../adapters/s3/quarantine.ts';
import { createS3Client } from '../../adapters/s3/s3-client.ts';
import { createSendQueue } from '../../adapters/sqs/send-queue.ts';
import { createSqsClient } from '../../adapters/sqs/sqs-client.ts';
import { createTaskQueue } from '../../adapters/sqs/task-queue.ts';
import { relayOutbox } from '../../application/relay/relay-outbox.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry } from '../../observability/telemetry.ts';
import { RelayOutboxEnv } from './env.ts';
import { createHandler } from './handler.ts';

const env = parseEnv(RelayOutboxEnv, process.env);
const clock = Date.now;
const sqs = { client: createSqsClient(), newId: randomUUID, clock, random: Math.random, sleep };
const sendQueue = createSendQueue({ ...sqs, queueUrl: env.SEND_QUEUE_URL });
const taskQueue = createTaskQueue({ ...sqs, queueUrl: env.TASK_QUEUE_URL });
const quarantine = createQuarantine(createS3Client(5_000), env.FAILURE_BUCKET, randomUUID, clock);

export const handler = createHandler({
  relay: (records) => relayOutbox({ sendQueue, taskQueue, quarantine }, records),
  telemetry: createTelemetry(env.STAGE),
});
