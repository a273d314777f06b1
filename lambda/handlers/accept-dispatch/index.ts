import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { normaliseAddress } from '../../adapters/addresses/normalise-address.ts';
import { createTableClient } from '../../adapters/dynamo/client/table-client.ts';
import { createAccountRepository } from '../../adapters/dynamo/control/account-repository.ts';
import { createSendingRepository } from '../../adapters/dynamo/control/sending-repository.ts';
import { createSesReadBudget } from '../../adapters/dynamo/control/ses-read-budget.ts';
import { createTemplateCopies } from '../../adapters/dynamo/control/template-copies.ts';
import { createAcceptRepository } from '../../adapters/dynamo/dispatch/accept-repository.ts';
import { dispatchIdOf } from '../../adapters/hashing/dispatch-id.ts';
import { fingerprintOf } from '../../adapters/hashing/fingerprint.ts';
import { templateVersionOf } from '../../adapters/hashing/template-version.ts';
import { createObjectWriter } from '../../adapters/s3/object-writer.ts';
import { createS3Client } from '../../adapters/s3/s3-client.ts';
import { createSesReadClient } from '../../adapters/ses/ses-client.ts';
import { createTemplateFetcher } from '../../adapters/ses/template-fetcher.ts';
import { createQueueDepth } from '../../adapters/sqs/queue-depth.ts';
import { createSqsClient } from '../../adapters/sqs/sqs-client.ts';
import { createCheckContent } from '../../adapters/template/content/check-content.ts';
import { createRenderSamples } from '../../adapters/template/content/render-samples.ts';
import { createAcceptDispatch } from '../../application/accept/accept-dispatch.ts';
import { createAccountQuota } from '../../application/accept/account-quota.ts';
import { createBeginEstimate } from '../../application/accept/estimate.ts';
import { createTemplateSource } from '../../application/accept/find-template.ts';
import { createPreviewDispatch } from '../../application/accept/preview-dispatch.ts';
import { parseEnv } from '../../config/env.ts';
import { createRequestParser } from '../../contracts/http/request/dispatch-request.ts';
import { createIsAllowedRecipient } from '../../domain/recipient/allowed-recipients.ts';
import { createTelemetry } from '../../observability/telemetry.ts';
import { createUnreadableObserver } from '../../observability/unreadable-items.ts';
import { AcceptDispatchEnv } from './env.ts';
import { createHandler } from './handler.ts';

const env = parseEnv(AcceptDispatchEnv, process.env);
const clock = Date.now;
const telemetry = createTelemetry(env.STAGE);
const onUnreadable = createUnreadableObserver(telemetry);
const table = createTableClient(5_000);
const random = Math.random;
const newId = randomUUID;
const objects = createObjectWriter({
  // One try a call: how long S3's trouble may last is counted over all objects of a request.
  client: createS3Client(3_000, 1),
  bucket: env.LIST_BUCKET,
  tableId: env.TABLE_ID,
  clock,
  random,
  sleep,
  newId,
});

/** What accept and preview have in common. */
const common = {
  dispatches: createAcceptRepository({ client: table, tableName: env.TABLE_NAME, objects, clock, random, sleep, newId }),
  templates: createTemplateSource({
    copies: createTemplateCopies({
      client: table,
      tableName: env.TABLE_NAME,
      prefix: env.TEMPLATE_PREFIX,
      clock,
      onUnreadable,
    }),
    fetcher: createTemplateFetcher({ client: createSesReadClient(), prefix: env.TEMPLATE_PREFIX }),
    budget: createSesReadBudget({ client: table, tableName: env.TABLE_NAME, clock, random, sleep, onUnreadable }),
    versionOf: templateVersionOf,
    clock,
    random,
    sleep,
  }),
  hashes: { dispatchId: dispatchIdOf, fingerprint: fingerprintOf },
  checkContent: createCheckContent(env.MAX_MAIL_BYTES),
  beginEstimate: createBeginEstimate({
    accountQuota: createAccountQuota({
      accounts: createAccountRepository(table, env.TABLE_NAME),
      maxSendRate: env.MAX_SEND_RATE,
      rateShare: env.RATE_SHARE,
      clock,
    }),
    ceiling: env.SENDER_CEILING,
    queue: createQueueDepth({ client: createSqsClient(), queueUrl: env.SEND_QUEUE_URL }),
    sending: createSendingRepository(table, env.TABLE_NAME),
    clock,
    sleep,
  }),
  clock,
  from: env.FROM_ADDRESS,
  replyTo: env.REPLY_TO_ADDRESS === '' ? undefined : env.REPLY_TO_ADDRESS,
  isAllowedRecipient: createIsAllowedRecipient(env.ALLOWED_RECIPIENTS),
};

export const handler = createHandler({
  acceptDispatch: createAcceptDispatch({ ...common, repeatGuardSeconds: env.REPEAT_GUARD_SECONDS }),
  previewDispatch: createPreviewDispatch({ ...common, renderSamples: createRenderSamples(env.MAX_MAIL_BYTES) }),
  parseRequest: createRequestParser(normaliseAddress),
  telemetry,
});
