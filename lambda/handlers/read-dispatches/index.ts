import { createTableClient } from '../../adapters/dynamo/client/table-client.ts';
import { createListRepository } from '../../adapters/dynamo/query/list-repository.ts';
import { createReadRepository } from '../../adapters/dynamo/query/read-repository.ts';
import { createFindExport } from '../../adapters/dynamo/task/export-repository.ts';
import { createExportAddress } from '../../adapters/s3/export-address.ts';
import { createS3Client } from '../../adapters/s3/s3-client.ts';
import { createListDispatches } from '../../application/queries/list-dispatches.ts';
import { createReadDispatch } from '../../application/queries/read-dispatch.ts';
import { createReadExport } from '../../application/queries/read-export.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry } from '../../observability/telemetry.ts';
import { ReadDispatchesEnv } from './env.ts';
import { createHandler } from './handler.ts';

const env = parseEnv(ReadDispatchesEnv, process.env);
const clock = Date.now;
const tableName = env.TABLE_NAME;
const client = createTableClient(3_000);
const dispatches = createReadRepository(client, tableName, clock);
const exports = {
  find: createFindExport(client, tableName),
  address: createExportAddress(createS3Client(15_000), env.EXPORT_BUCKET, clock),
};

export const handler = createHandler({
  readDispatch: createReadDispatch(dispatches),
  listDispatches: createListDispatches(
    createListRepository({ client, tableName, byAdminIndex: env.BY_ADMIN_INDEX, openIndex: env.OPEN_INDEX }),
  ),
  readExport: createReadExport(dispatches, exports, clock),
  scopePrefix: env.SCOPE_PREFIX,
  telemetry: createTelemetry(env.STAGE),
});
