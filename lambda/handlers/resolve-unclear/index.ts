import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { createTableClient } from '../../adapters/dynamo/client/table-client.ts';
import { createFeedbackRepository } from '../../adapters/dynamo/control/feedback-repository.ts';
import { createSendingRepository } from '../../adapters/dynamo/control/sending-repository.ts';
import { createRecipientRepository } from '../../adapters/dynamo/recipient/recipient-repository.ts';
import { createUnclearLedger } from '../../adapters/dynamo/recipient/unclear-ledger.ts';
import { createWalkRepository } from '../../adapters/dynamo/recipient/walk-repository.ts';
import { createMailProvider } from '../../adapters/ses/mail-provider.ts';
import { createSesClient } from '../../adapters/ses/ses-client.ts';
import { createSendQueue } from '../../adapters/sqs/send-queue.ts';
import { createSqsClient } from '../../adapters/sqs/sqs-client.ts';
import { createResolveUnclear } from '../../application/unclear/resolve-unclear.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry, neverThrow } from '../../observability/telemetry.ts';
import { ResolveUnclearEnv } from './env.ts';
import { createHandler } from './handler.ts';
import { createResolveObserver } from './signals.ts';

const env = parseEnv(ResolveUnclearEnv, process.env);
const clock = Date.now;
const telemetry = createTelemetry(env.STAGE);
const table = createTableClient(3_000);
const ledger = createUnclearLedger(table, env.TABLE_NAME);

export const handler = createHandler({
  resolveUnclear: createResolveUnclear({
    ledger,
    walks: createWalkRepository(table, env.TABLE_NAME),
    recipients: createRecipientRepository({
      client: table,
      tableName: env.TABLE_NAME,
      retentionDays: env.RETENTION_DAYS,
      clock,
      random: Math.random,
      sleep,
    }),
    feedback: createFeedbackRepository(table, env.TABLE_NAME),
    sending: createSendingRepository(table, env.TABLE_NAME),
    sendQueue: createSendQueue({
      client: createSqsClient(),
      queueUrl: env.SEND_QUEUE_URL,
      newId: randomUUID,
      clock,
      random: Math.random,
      sleep,
    }),
    provider: createMailProvider({
      client: createSesClient(env.SES_TIMEOUT_SECONDS),
      configurationSet: env.CONFIGURATION_SET,
      timeoutSeconds: env.SES_TIMEOUT_SECONDS,
    }),
    from: env.FROM_ADDRESS,
    policy: {
      unclear: env.UNCLEAR_POLICY,
      attemptsPerRound: env.ATTEMPTS_PER_ROUND,
      backoff: { baseSeconds: env.BACKOFF_BASE_SECONDS, capSeconds: env.BACKOFF_CAP_SECONDS },
      leaseSeconds: env.LEASE_SECONDS,
      sesTimeoutSeconds: env.SES_TIMEOUT_SECONDS,
      watermarkMarginSeconds: env.WATERMARK_MARGIN_SECONDS,
      redeliverySeconds: env.FEEDBACK_REDELIVERY_SECONDS,
      unknownAfterSeconds: env.UNKNOWN_AFTER_SECONDS,
      resendsAfterLost: env.RESENDS_AFTER_LOST,
    },
    clock,
    random: Math.random,
    observe: neverThrow(createResolveObserver(telemetry)),
  }),
  countOpen: () => ledger.size(),
  // A call to SES, and some writes.
  reserveMs: env.SES_TIMEOUT_SECONDS * 1000 + 5_000,
  telemetry,
});
