import { createFeedbackRepository } from '../../adapters/dynamo/control/feedback-repository.ts';
import { createOpenList } from '../../adapters/dynamo/query/list-repository.ts';
import { createReadRepository } from '../../adapters/dynamo/query/read-repository.ts';
import { createSendingRepository } from '../../adapters/dynamo/control/sending-repository.ts';
import { createStoryRepository } from '../../adapters/dynamo/query/story-repository.ts';
import { createSweepTraces } from '../../adapters/dynamo/control/sweep-traces.ts';
import { createTableClient } from '../../adapters/dynamo/client/table-client.ts';
import { createReadDispatch } from '../../application/queries/read-dispatch.ts';
import { createShowOverview } from '../../application/queries/show-overview.ts';
import { createTellStory } from '../../application/queries/tell-story.ts';
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
    sweeps: createSweepTraces(client, tableName),
    feedback: createFeedbackRepository(client, tableName),
    clock,
  }),
  tellStory: createTellStory({
    dispatches: createReadDispatch(createReadRepository(client, tableName, clock)),
    stories: createStoryRepository(client, tableName, clock),
    unclearPolicy: env.UNCLEAR_POLICY,
    clock,
  }),
  telemetry: createTelemetry(env.STAGE),
});
