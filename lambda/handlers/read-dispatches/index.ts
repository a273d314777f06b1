import { createReadRepository } from '../../adapters/dynamo/read-repository.ts';
import { createTableClient } from '../../adapters/dynamo/table-client.ts';
import { createReadDispatch } from '../../application/read-dispatch.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry } from '../../observability/telemetry.ts';
import { ReadDispatchesEnv } from './env.ts';
import { createHandler } from './handler.ts';

const env = parseEnv(ReadDispatchesEnv, process.env);

export const handler = createHandler({
  readDispatch: createReadDispatch(createReadRepository(createTableClient(3_000), env.TABLE_NAME)),
  telemetry: createTelemetry(),
});
