import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { createTableClient } from '../../adapters/dynamo/client/table-client.ts';
import { createAccountRepository } from '../../adapters/dynamo/control/account-repository.ts';
import { createFeedbackRepository } from '../../adapters/dynamo/control/feedback-repository.ts';
import { createRestoredRepository } from '../../adapters/dynamo/control/restored-repository.ts';
import { createSendingRepository } from '../../adapters/dynamo/control/sending-repository.ts';
import { createSesReadBudget } from '../../adapters/dynamo/control/ses-read-budget.ts';
import { createSweepStates } from '../../adapters/dynamo/control/sweep-states.ts';
import { createTableIdentity } from '../../adapters/dynamo/control/table-identity.ts';
import { createOpenDispatchRepository } from '../../adapters/dynamo/dispatch/open-dispatch-repository.ts';
import { createUnclearLedger } from '../../adapters/dynamo/recipient/unclear-ledger.ts';
import { createOrphanRepository } from '../../adapters/dynamo/task/orphan-repository.ts';
import { createObjectInventory } from '../../adapters/s3/object-inventory.ts';
import { createS3Client } from '../../adapters/s3/s3-client.ts';
import { createAccountSource } from '../../adapters/ses/account-source.ts';
import { createSesReadClient } from '../../adapters/ses/ses-client.ts';
import { createSendQueue } from '../../adapters/sqs/send-queue.ts';
import { createSqsClient } from '../../adapters/sqs/sqs-client.ts';
import { createTaskQueue } from '../../adapters/sqs/task-queue.ts';
import { createInspectAccount } from '../../application/send/rate/inspect-account.ts';
import { createRefreshAccount } from '../../application/send/rate/refresh-account.ts';
import { createDeleteOrphans } from '../../application/sweep/delete-orphans.ts';
import { createStopRestored } from '../../application/sweep/stop-restored.ts';
import { createSweep } from '../../application/sweep/sweep.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry, neverThrow } from '../../observability/telemetry.ts';
import { createUnreadableObserver } from '../../observability/unreadable-items.ts';
import { SweepEnv } from './env.ts';
import { createHandler } from './handler.ts';
import { createAccountObserver, createOrphanObserver, createRestoreObserver } from './signals.ts';

const env = parseEnv(SweepEnv, process.env);
const clock = Date.now;
const table = createTableClient(5_000);
const telemetry = createTelemetry(env.STAGE);
const onUnreadable = createUnreadableObserver(telemetry);
const accounts = createAccountRepository(table, env.TABLE_NAME, onUnreadable);
const sqs = { client: createSqsClient(), newId: randomUUID, clock, random: Math.random, sleep };
const inTable = { client: table, tableName: env.TABLE_NAME, openIndex: env.OPEN_INDEX, retentionDays: env.RETENTION_DAYS };
const stopRestored = createStopRestored({
  identity: createTableIdentity(table, env.TABLE_NAME, env.TABLE_ID),
  dispatches: createRestoredRepository(inTable),
  clock,
  observe: neverThrow(createRestoreObserver(telemetry)),
});
const deleteOrphans = createDeleteOrphans({
  inventory: createObjectInventory(createS3Client(5_000), env.LIST_BUCKET, env.TABLE_ID),
  orphans: createOrphanRepository(table, env.TABLE_NAME),
  clock,
  observe: neverThrow(createOrphanObserver(telemetry)),
});

export const handler = createHandler({
  inspectAccount: createInspectAccount({
    refresh: createRefreshAccount({
      budget: createSesReadBudget({ client: table, tableName: env.TABLE_NAME, clock, random: Math.random, sleep, onUnreadable }),
      accounts,
      source: createAccountSource(createSesReadClient()),
      clock,
      sleep,
      observe: neverThrow(createAccountObserver(telemetry)),
    }),
    accounts,
    clock,
  }),
  sweep: createSweep({
    dispatches: createOpenDispatchRepository(inTable),
    sendQueue: createSendQueue({ ...sqs, queueUrl: env.SEND_QUEUE_URL }),
    taskQueue: createTaskQueue({ ...sqs, queueUrl: env.TASK_QUEUE_URL }),
    sending: createSendingRepository(table, env.TABLE_NAME),
    sweeps: createSweepStates(table, env.TABLE_NAME, onUnreadable),
    feedback: createFeedbackRepository(table, env.TABLE_NAME),
    ledger: createUnclearLedger(table, env.TABLE_NAME),
    clock,
    stuckAfterMs: env.STUCK_AFTER_SECONDS * 1000,
    revisitMs: env.REVISIT_SECONDS * 1000,
    firstSteps: [stopRestored],
    lastSteps: [deleteOrphans],
  }),
  telemetry,
});
