import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

import { createReadRepository } from '../../adapters/dynamo/read-repository.ts';
import { createReadDispatch } from '../../application/read-dispatch.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry } from '../../observability/telemetry.ts';
import { ReadDispatchesEnv } from './env.ts';
import { createHandler } from './handler.ts';

const env = parseEnv(ReadDispatchesEnv, process.env);
const client = new DynamoDBClient({
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
});

export const handler = createHandler({
  readDispatch: createReadDispatch(createReadRepository(DynamoDBDocumentClient.from(client), env.TABLE_NAME)),
  telemetry: createTelemetry(),
});
