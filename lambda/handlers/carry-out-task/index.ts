import { setTimeout as sleep } from 'node:timers/promises';

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

import { createBatchRepository } from '../../adapters/dynamo/batch-repository.ts';
import { createExpandBatch } from '../../application/expand-batch.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry } from '../../observability/telemetry.ts';
import { CarryOutTaskEnv } from './env.ts';
import { createHandler } from './handler.ts';

const env = parseEnv(CarryOutTaskEnv, process.env);
const table = DynamoDBDocumentClient.from(new DynamoDBClient({}));

export const handler = createHandler({
  expandBatch: createExpandBatch(createBatchRepository(table, env.TABLE_NAME, sleep), Date.now),
  telemetry: createTelemetry(),
});
