import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { createTableClient } from '../../adapters/dynamo/client/table-client.ts';
import { createAccountRepository } from '../../adapters/dynamo/control/account-repository.ts';
import { createCanaryRepository } from '../../adapters/dynamo/control/canary-repository.ts';
import { createSendingRepository } from '../../adapters/dynamo/control/sending-repository.ts';
import { createSesReadBudget } from '../../adapters/dynamo/control/ses-read-budget.ts';
import { createSweepStates } from '../../adapters/dynamo/control/sweep-states.ts';
import { createTableIdentity } from '../../adapters/dynamo/control/table-identity.ts';
import { createContentRepository } from '../../adapters/dynamo/dispatch/content-repository.ts';
import { createDispatchRepository } from '../../adapters/dynamo/dispatch/dispatch-repository.ts';
import { createRecipientRepository } from '../../adapters/dynamo/recipient/recipient-repository.ts';
import { createUnclearLedger } from '../../adapters/dynamo/recipient/unclear-ledger.ts';
import { createObjectReader } from '../../adapters/s3/object-reader.ts';
import { createS3Client } from '../../adapters/s3/s3-client.ts';
import { createAccountSource } from '../../adapters/ses/account-source.ts';
import { createKeptSockets } from '../../adapters/ses/kept-sockets.ts';
import { createMailProvider } from '../../adapters/ses/mail-provider.ts';
import { createSesClient } from '../../adapters/ses/ses-client.ts';
import { createSendQueue } from '../../adapters/sqs/send-queue.ts';
import { createSqsClient } from '../../adapters/sqs/sqs-client.ts';
import { createMailRenderer } from '../../adapters/template/content/mail-renderer.ts';
import type { SendSignal } from '../../application/send/finished-attempt.ts';
import { createPauseGuard } from '../../application/send/pause/pause-guard.ts';
import { createPacer } from '../../application/send/rate/pacer.ts';
import { createQuotaRoom } from '../../application/send/rate/quota-room.ts';
import { createRefreshAccount } from '../../application/send/rate/refresh-account.ts';
import { createSendRate } from '../../application/send/rate/send-rate.ts';
import { neededMs } from '../../application/send/send-deps.ts';
import { createSendRecipients } from '../../application/send/send-recipients.ts';
import { createStopRule } from '../../application/send/stop-dispatch.ts';
import { parseEnv } from '../../config/env.ts';
import { createIsAllowedRecipient } from '../../domain/recipient/allowed-recipients.ts';
import { createTelemetry, neverThrow } from '../../observability/telemetry.ts';
import { createUnreadableObserver } from '../../observability/unreadable-items.ts';
import { SendRecipientsEnv } from './env.ts';
import { createHandler } from './handler.ts';
import { createAccountObserver, createPauseObserver, createSendObserver, createWaitObserver } from './signals.ts';

const env = parseEnv(SendRecipientsEnv, process.env);
const clock = Date.now;
/** A connection that was idle for longer may be closed on the other side. */
const IDLE_MS = 20_000;
const telemetry = createTelemetry(env.STAGE);
const onUnreadable = createUnreadableObserver(telemetry);
const table = createTableClient(3_000);
// Content that is slow to come must leave time for the other messages of a batch.
const objects = createObjectReader(createS3Client(2_000, 1), env.LIST_BUCKET);
const queue = createSendQueue({
  client: createSqsClient(),
  queueUrl: env.SEND_QUEUE_URL,
  newId: randomUUID,
  clock,
  random: Math.random,
  sleep,
});
const sockets = createKeptSockets(clock);
const ses = createSesClient(env.SES_TIMEOUT_SECONDS, sockets);
const provider = createMailProvider({
  client: ses,
  configurationSet: env.CONFIGURATION_SET,
  timeoutSeconds: env.SES_TIMEOUT_SECONDS,
});
const accounts = createAccountRepository(table, env.TABLE_NAME, onUnreadable);
const refresh = createRefreshAccount({
  budget: createSesReadBudget({ client: table, tableName: env.TABLE_NAME, clock, random: Math.random, sleep, onUnreadable }),
  accounts,
  source: createAccountSource(ses),
  clock,
  sleep,
  observe: neverThrow(createAccountObserver(telemetry)),
});
const sendRate = createSendRate({
  accounts,
  refresh,
  maxSendRate: env.MAX_SEND_RATE,
  clock,
  sleep,
});

const dispatches = createDispatchRepository({ client: table, tableName: env.TABLE_NAME, clock });
const tell = neverThrow(createSendObserver(telemetry));
const measure = neverThrow(createWaitObserver(telemetry, dispatches.acceptedAt, clock));
const observe = (signal: SendSignal): void => {
  tell(signal);
  measure(signal);
};
const stopRule = createStopRule({ dispatches, clock, observe });

export const handler = createHandler({
  sendRecipients: createSendRecipients({
    recipients: createRecipientRepository({
      client: table,
      tableName: env.TABLE_NAME,
      retentionDays: env.RETENTION_DAYS,
      clock,
      random: Math.random,
      sleep,
    }),
    dispatches,
    contents: createContentRepository({ client: table, tableName: env.TABLE_NAME, objects, clock }),
    ledger: createUnclearLedger(table, env.TABLE_NAME),
    renderer: createMailRenderer(env.MAX_MAIL_BYTES),
    isAllowedRecipient: createIsAllowedRecipient(env.ALLOWED_RECIPIENTS),
    provider,
    pacer: createPacer({
      clock,
      sendRate,
      rateShare: env.RATE_SHARE,
      senders: env.MAX_CONCURRENCY,
      parallelCalls: env.PARALLEL_CALLS,
    }),
    guard: createPauseGuard({
      sending: createSendingRepository(table, env.TABLE_NAME),
      sweeps: createSweepStates(table, env.TABLE_NAME),
      identity: createTableIdentity(table, env.TABLE_NAME, env.TABLE_ID),
      policy: {
        pauseBaseSeconds: env.PAUSE_BASE_SECONDS,
        pauseCapSeconds: env.PAUSE_CAP_SECONDS,
        // One call and the writes around it, or several canaries one after the other.
        probeSeconds: env.SES_TIMEOUT_SECONDS + 15,
      },
      canaries: createCanaryRepository(table, env.TABLE_NAME, onUnreadable),
      provider,
      quota: createQuotaRoom({ accounts, refresh, clock }),
      stopDispatch: (...args) => stopRule.stop(...args),
      fromAddress: env.FROM_ADDRESS,
      lookAgainSeconds: env.PAUSE_LOOK_SECONDS,
      callMs: neededMs({ sesTimeoutSeconds: env.SES_TIMEOUT_SECONDS }),
      clock,
      random: Math.random,
      newId: randomUUID,
      sleep,
      observe: neverThrow(createPauseObserver(telemetry)),
    }),
    stopRule,
    policy: {
      leaseSeconds: env.LEASE_SECONDS,
      sesTimeoutSeconds: env.SES_TIMEOUT_SECONDS,
      attemptsPerRound: env.ATTEMPTS_PER_ROUND,
      backoff: { baseSeconds: env.BACKOFF_BASE_SECONDS, capSeconds: env.BACKOFF_CAP_SECONDS },
      refusals: { baseSeconds: env.PAUSE_BASE_SECONDS, capSeconds: env.PAUSE_CAP_SECONDS },
      maxReceiveCount: env.MAX_RECEIVE_COUNT,
    },
    clock,
    random: Math.random,
    newId: randomUUID,
    sleep,
    observe,
  }),
  queue,
  clock,
  telemetry,
  onStart: () => {
    sockets.dropIdle(IDLE_MS);
  },
});
