import { setTimeout as sleep } from 'node:timers/promises';

import { createOperateRepository } from '../../adapters/dynamo/operate-repository.ts';
import { createReadRepository } from '../../adapters/dynamo/read-repository.ts';
import { createTableClient } from '../../adapters/dynamo/table-client.ts';
import { createOperateDispatch } from '../../application/operate-dispatch.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry } from '../../observability/telemetry.ts';
import { OperateDispatchesEnv } from './env.ts';
import { createHandler } from './handler.ts';

const env = parseEnv(OperateDispatchesEnv, process.env);
const table = createTableClient(3_000);

export const handler = createHandler({
  operateDispatch: createOperateDispatch({
    dispatches: createOperateRepository(table, env.TABLE_NAME),
    rows: createReadRepository(table, env.TABLE_NAME),
    clock: Date.now,
    random: Math.random,
    sleep,
  }),
  telemetry: createTelemetry(),
});
