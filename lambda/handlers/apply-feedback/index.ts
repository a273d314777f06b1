import { setTimeout as sleep } from 'node:timers/promises';

import { createTableClient } from '../../adapters/dynamo/client/table-client.ts';
import { createFeedbackRepository } from '../../adapters/dynamo/control/feedback-repository.ts';
import { createRecipientRepository } from '../../adapters/dynamo/recipient/recipient-repository.ts';
import { createApplyFeedback } from '../../application/feedback/apply-feedback.ts';
import { parseEnv } from '../../config/env.ts';
import { createTelemetry, neverThrow } from '../../observability/telemetry.ts';
import { ApplyFeedbackEnv } from './env.ts';
import { createHandler } from './handler.ts';
import { createFeedbackObserver } from './signals.ts';

const env = parseEnv(ApplyFeedbackEnv, process.env);
const telemetry = createTelemetry(env.STAGE);
const table = createTableClient(1_000);

export const handler = createHandler({
  applyFeedback: createApplyFeedback({
    recipients: createRecipientRepository({
      client: table,
      tableName: env.TABLE_NAME,
      retentionDays: env.RETENTION_DAYS,
      clock: Date.now,
      random: Math.random,
      sleep,
    }),
    feedback: createFeedbackRepository(table, env.TABLE_NAME),
    behind: { behindAfterSeconds: env.BEHIND_AFTER_SECONDS, redeliverySeconds: env.FEEDBACK_REDELIVERY_SECONDS },
    clock: Date.now,
    sleep,
    observe: neverThrow(createFeedbackObserver(telemetry)),
  }),
  telemetry,
});
