import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { createOpenDispatchRepository } from '../../adapters/dynamo/open-dispatch-repository.ts';
import { createSendingRepository } from '../../adapters/dynamo/sending-repository.ts';
import { createSweepTraces } from '../../adapters/dynamo/sweep-traces.ts';
import { createTableClient } from '../../adapters/dynamo/table-client.ts';
import { createWitnessRepository } from '../../adapters/dynamo/witness-repository.ts';
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
const table = createTableClient(5_000);
const sqs = { client: createSqsClient(), newId: randomUUID, clock, sleep };

export const handler = createHandler({
  sweep: createSweep({
    dispatches: createOpenDispatchRepository({
      client: table,
      tableName: env.TABLE_NAME,
      openIndex: env.OPEN_INDEX,
      retentionDays: env.RETENTION_DAYS,
    }),
    sendQueue: createSendQueue({ ...sqs, queueUrl: env.SEND_QUEUE_URL }),
    taskQueue: createTaskQueue({ ...sqs, queueUrl: env.TASK_QUEUE_URL }),
    sending: createSendingRepository(table, env.TABLE_NAME),
    sweeps: createSweepTraces(table, env.TABLE_NAME),
    witness: createWitnessRepository(table, env.TABLE_NAME),
    clock,
    stillMs: env.STILL_SECONDS * 1000,
    visitMs: env.VISIT_SECONDS * 1000,
  }),
  telemetry: createTelemetry(),
});
