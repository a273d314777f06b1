import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { createContentRepository } from '../../adapters/dynamo/content-repository.ts';
import { createRecipientRepository } from '../../adapters/dynamo/recipient-repository.ts';
import { createTableClient } from '../../adapters/dynamo/table-client.ts';
import { createMailProvider } from '../../adapters/ses/mail-provider.ts';
import { createSesClient } from '../../adapters/ses/ses-client.ts';
import { createSendQueue } from '../../adapters/sqs/send-queue.ts';
import { createSqsClient } from '../../adapters/sqs/sqs-client.ts';
import { createMailRenderer } from '../../adapters/template/mail-renderer.ts';
import { createPacer } from '../../application/pacer.ts';
import { createSendRecipients } from '../../application/send-recipients.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry, neverThrow } from '../../observability/telemetry.ts';
import { SendRecipientsEnv } from './env.ts';
import { createHandler } from './handler.ts';
import { createSendObserver } from './signals.ts';

const env = parseEnv(SendRecipientsEnv, process.env);
const clock = Date.now;
const telemetry = createTelemetry();
const table = createTableClient(3_000);
const queue = createSendQueue({
  client: createSqsClient(),
  queueUrl: env.SEND_QUEUE_URL,
  newId: randomUUID,
  clock,
  sleep,
});
const provider = createMailProvider({
  client: createSesClient(env.SES_TIMEOUT_SECONDS),
  configurationSet: env.CONFIGURATION_SET,
  timeoutSeconds: env.SES_TIMEOUT_SECONDS,
  maxSendRate: env.MAX_SEND_RATE,
  clock,
});

export const handler = createHandler({
  sendRecipients: createSendRecipients({
    recipients: createRecipientRepository({ client: table, tableName: env.TABLE_NAME, retentionDays: env.RETENTION_DAYS, sleep }),
    contents: createContentRepository(table, env.TABLE_NAME, clock),
    renderer: createMailRenderer(),
    provider,
    pacer: createPacer({
      clock,
      maxSendRate: () => provider.maxSendRate(),
      senders: env.MAX_CONCURRENCY,
      parallelCalls: env.PARALLEL_CALLS,
    }),
    policy: {
      leaseSeconds: env.LEASE_SECONDS,
      sesTimeoutSeconds: env.SES_TIMEOUT_SECONDS,
      attemptsPerRound: env.ATTEMPTS_PER_ROUND,
      backoff: { baseSeconds: env.BACKOFF_BASE_SECONDS, capSeconds: env.BACKOFF_CAP_SECONDS },
      maxReceiveCount: env.MAX_RECEIVE_COUNT,
      unclear: env.UNCLEAR_POLICY,
    },
    clock,
    random: Math.random,
    newId: randomUUID,
    sleep,
    observe: neverThrow(createSendObserver(telemetry)),
  }),
  queue,
  clock,
  telemetry,
});
