import { setTimeout as sleep } from 'node:timers/promises';

import { createBatchRepository } from '../../adapters/dynamo/batch-repository.ts';
import { createTableClient } from '../../adapters/dynamo/table-client.ts';
import { createExpandBatch } from '../../application/expand-batch.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry } from '../../observability/telemetry.ts';
import { CarryOutTaskEnv } from './env.ts';
import { createHandler } from './handler.ts';

const env = parseEnv(CarryOutTaskEnv, process.env);
const table = createTableClient(5_000);

export const handler = createHandler({
  expandBatch: createExpandBatch(createBatchRepository(table, env.TABLE_NAME, sleep), Date.now),
  telemetry: createTelemetry(),
});
