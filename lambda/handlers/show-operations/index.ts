import { createTableClient } from '../../adapters/dynamo/client/table-client.ts';
import { createFeedbackRepository } from '../../adapters/dynamo/control/feedback-repository.ts';
import { createSendingRepository } from '../../adapters/dynamo/control/sending-repository.ts';
import { createSweepStates } from '../../adapters/dynamo/control/sweep-states.ts';
import { createDetailsRepository } from '../../adapters/dynamo/query/details-repository.ts';
import { createOpenList } from '../../adapters/dynamo/query/list-repository.ts';
import { createReadRepository } from '../../adapters/dynamo/query/read-repository.ts';
import { createReadDetails } from '../../application/queries/read-details.ts';
import { createReadDispatch } from '../../application/queries/read-dispatch.ts';
import { createShowOverview } from '../../application/queries/show-overview.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry } from '../../observability/telemetry.ts';
import { ShowOperationsEnv } from './env.ts';
import { createHandler } from './handler.ts';

const env = parseEnv(ShowOperationsEnv, process.env);
const clock = Date.now;
const tableName = env.TABLE_NAME;
const client = createTableClient(3_000);

export const handler = createHandler({
  showOverview: createShowOverview({
    dispatches: createOpenList({ client, tableName, openIndex: env.OPEN_INDEX }),
    sending: createSendingRepository(client, tableName),
    sweeps: createSweepStates(client, tableName),
    feedback: createFeedbackRepository(client, tableName),
    clock,
  }),
  readDetails: createReadDetails({
    dispatches: createReadDispatch(createReadRepository(client, tableName, clock)),
    detailsRepository: createDetailsRepository(client, tableName, clock),
    unclearPolicy: env.UNCLEAR_POLICY,
    clock,
  }),
  telemetry: createTelemetry(env.STAGE),
});
