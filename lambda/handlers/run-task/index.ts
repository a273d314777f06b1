import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { createTableClient } from '../../adapters/dynamo/client/table-client.ts';
import { createBatchRepository } from '../../adapters/dynamo/dispatch/batch-repository.ts';
import { createRecipientRepository } from '../../adapters/dynamo/recipient/recipient-repository.ts';
import { isTransient } from '../../adapters/dynamo/recipient/statements.ts';
import { createTaskRepository } from '../../adapters/dynamo/task/task-repository.ts';
import { createExportStore } from '../../adapters/s3/export-store.ts';
import { createObjectReader } from '../../adapters/s3/object-reader.ts';
import { createObjectRemover } from '../../adapters/s3/object-remover.ts';
import { createS3Client } from '../../adapters/s3/s3-client.ts';
import { createHideMessage } from '../../adapters/sqs/hide-message.ts';
import { createSendQueue } from '../../adapters/sqs/send-queue.ts';
import { createSqsClient } from '../../adapters/sqs/sqs-client.ts';
import { createTaskQueue } from '../../adapters/sqs/task-queue.ts';
import { Unavailable } from '../../application/ports/errors.ts';
import { createExpandBatch } from '../../application/tasks/expand-batch.ts';
import { RowsUnfinishedError } from '../../application/tasks/rows-unfinished.ts';
import { createRunTask } from '../../application/tasks/run-task.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry } from '../../observability/telemetry.ts';
import { RunTaskEnv } from './env.ts';
import { createHandler } from './handler.ts';

const env = parseEnv(RunTaskEnv, process.env);
const clock = Date.now;
const tableName = env.TABLE_NAME;
const table = createTableClient(5_000);
const sqs = { client: createSqsClient(), newId: randomUUID, clock, random: Math.random, sleep };
const retentionDays = env.RETENTION_DAYS;

const lists = createS3Client(5_000);
const batches = createBatchRepository({
  client: table,
  tableName,
  objects: { ...createObjectReader(lists, env.LIST_BUCKET), ...createObjectRemover(lists, env.LIST_BUCKET) },
  random: Math.random,
  sleep,
});
const taskQueue = createTaskQueue({ ...sqs, queueUrl: env.TASK_QUEUE_URL });

export const handler = createHandler({
  expandBatch: createExpandBatch(batches, clock),
  runTask: createRunTask({
    tasks: createTaskRepository(table, tableName, clock),
    batches,
    taskQueue,
    recipients: createRecipientRepository({ client: table, tableName, retentionDays, clock, random: Math.random, sleep }),
    exports: createExportStore(createS3Client(15_000), env.EXPORT_BUCKET),
    sendQueue: createSendQueue({ ...sqs, queueUrl: env.SEND_QUEUE_URL }),
    clock,
    newId: randomUUID,
    sleep,
  }),
  taskQueue,
  hide: createHideMessage(sqs.client, env.TASK_QUEUE_URL),
  isTransient: (error) => error instanceof Unavailable || error instanceof RowsUnfinishedError || isTransient(error),
  telemetry: createTelemetry(env.STAGE),
});
