import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { createOpenDispatchRepository } from '../../adapters/dynamo/open-dispatch-repository.ts';
import { createTableClient } from '../../adapters/dynamo/table-client.ts';
import { createSendQueue } from '../../adapters/sqs/send-queue.ts';
import { createSqsClient } from '../../adapters/sqs/sqs-client.ts';
import { createTaskQueue } from '../../adapters/sqs/task-queue.ts';
import { createSweep } from '../../application/sweep.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry } from '../../observability/telemetry.ts';
import { SweepEnv } from './env.ts';
import { createHandler } from './handler.ts';

const env = parseEnv(SweepEnv, process.env);
const clock = Date.now;
const sqs = { client: createSqsClient(), newId: randomUUID, clock, sleep };

export const handler = createHandler({
  sweep: createSweep({
    dispatches: createOpenDispatchRepository({
      client: createTableClient(5_000),
      tableName: env.TABLE_NAME,
      openIndex: env.OPEN_INDEX,
      retentionDays: env.RETENTION_DAYS,
    }),
    sendQueue: createSendQueue({ ...sqs, queueUrl: env.SEND_QUEUE_URL }),
    taskQueue: createTaskQueue({ ...sqs, queueUrl: env.TASK_QUEUE_URL }),
    clock,
    stillMs: env.STILL_SECONDS * 1000,
    visitMs: env.VISIT_SECONDS * 1000,
  }),
  telemetry: createTelemetry(),
});
