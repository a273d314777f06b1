import { setTimeout as sleep } from 'node:timers/promises';

import { createTableClient } from '../../adapters/dynamo/client/table-client.ts';
import { createSendingRepository } from '../../adapters/dynamo/control/sending-repository.ts';
import { createOperateSending } from '../../application/commands/operate-sending.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry } from '../../observability/telemetry.ts';
import { OperateSendingEnv } from './env.ts';
import { createHandler } from './handler.ts';

const env = parseEnv(OperateSendingEnv, process.env);

export const handler = createHandler({
  operateSending: createOperateSending({
    sending: createSendingRepository(createTableClient(3_000), env.TABLE_NAME),
    clock: Date.now,
    random: Math.random,
    sleep,
  }),
  telemetry: createTelemetry(env.STAGE),
});
