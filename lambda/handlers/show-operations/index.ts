import { createFeedbackRepository } from '../../adapters/dynamo/feedback-repository.ts';
import { createOpenList } from '../../adapters/dynamo/list-repository.ts';
import { createReadRepository } from '../../adapters/dynamo/read-repository.ts';
import { createSendingRepository } from '../../adapters/dynamo/sending-repository.ts';
import { createStoryRepository } from '../../adapters/dynamo/story-repository.ts';
import { createSweepTraces } from '../../adapters/dynamo/sweep-traces.ts';
import { createTableClient } from '../../adapters/dynamo/table-client.ts';
import { createReadDispatch } from '../../application/read-dispatch.ts';
import { createShowOverview } from '../../application/show-overview.ts';
import { createTellStory } from '../../application/tell-story.ts';
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
