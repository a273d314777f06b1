import { setTimeout as sleep } from 'node:timers/promises';

import { createTableClient } from '../../adapters/dynamo/client/table-client.ts';
import { createProgressRepository } from '../../adapters/dynamo/dispatch/progress-repository.ts';
import { createEventPublisher } from '../../adapters/eventbridge/event-publisher.ts';
import { createEventBridgeClient } from '../../adapters/eventbridge/eventbridge-client.ts';
import { createFollowProgress } from '../../application/progress/follow-progress.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry, neverThrow } from '../../observability/telemetry.ts';
import { FollowProgressEnv } from './env.ts';
import { createHandler } from './handler.ts';
import { createProgressObserver } from './signals.ts';

const env = parseEnv(FollowProgressEnv, process.env);
const telemetry = createTelemetry(env.STAGE);

export const handler = createHandler({
  followProgress: createFollowProgress({
    dispatches: createProgressRepository({
      client: createTableClient(5_000),
      tableName: env.TABLE_NAME,
      retentionDays: env.RETENTION_DAYS,
      random: Math.random,
      sleep,
    }),
    news: createEventPublisher({ client: createEventBridgeClient(), busName: env.EVENT_BUS_NAME, random: Math.random, sleep }),
    clock: Date.now,
    sleep,
    observe: neverThrow(createProgressObserver(telemetry)),
  }),
  telemetry,
});
