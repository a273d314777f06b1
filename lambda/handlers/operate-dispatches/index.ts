import { setTimeout as sleep } from 'node:timers/promises';

import { createTableClient } from '../../adapters/dynamo/client/table-client.ts';
import { createReadRepository } from '../../adapters/dynamo/query/read-repository.ts';
import { createRecipientRepository } from '../../adapters/dynamo/recipient/recipient-repository.ts';
import { createOperateRepository } from '../../adapters/dynamo/task/operate-repository.ts';
import { createTaskRepository } from '../../adapters/dynamo/task/task-repository.ts';
import { createOperateDispatch } from '../../application/commands/operate-dispatch.ts';
import { createRetryRecipients } from '../../application/commands/retry-recipients.ts';
import { createSettleRecipient } from '../../application/commands/settle-recipient.ts';
import { createSettleRecipients } from '../../application/commands/settle-recipients.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry } from '../../observability/telemetry.ts';
import { OperateDispatchesEnv } from './env.ts';
import { createHandler } from './handler.ts';

const env = parseEnv(OperateDispatchesEnv, process.env);
const table = createTableClient(3_000);
const tableName = env.TABLE_NAME;
const clock = Date.now;
const dispatches = createOperateRepository(table, tableName);
const recipients = createRecipientRepository({
  client: table,
  tableName,
  retentionDays: env.RETENTION_DAYS,
  clock,
  random: Math.random,
  sleep,
});

export const handler = createHandler({
  operateDispatch: createOperateDispatch({
    dispatches,
    rows: createReadRepository(table, tableName, clock),
    clock,
    random: Math.random,
    sleep,
  }),
  retryRecipients: createRetryRecipients({
    dispatches,
    tasks: createTaskRepository(table, tableName, clock),
    recipients,
    clock,
    sleep,
  }),
  settleRecipient: createSettleRecipient({ dispatches, recipients, clock }),
  settleRecipients: createSettleRecipients({ dispatches, recipients, clock }),
  clock,
  scopePrefix: env.SCOPE_PREFIX,
  telemetry: createTelemetry(env.STAGE),
});
