import * as z from 'zod';

import { amount, positive, text } from '../../config/env.ts';
import { UNCLEAR_POLICIES } from '../../domain/recipient/unclear.ts';

/** The settings of the function that resolves unclear attempts. */
export const ResolveUnclearEnv = z.object({
  /** Dimension of the metrics. */
  STAGE: text,
  TABLE_NAME: text,
  SEND_QUEUE_URL: text,
  CONFIGURATION_SET: text,
  /** How long a claim lasts. */
  LEASE_SECONDS: positive,
  SES_TIMEOUT_SECONDS: positive,
  ATTEMPTS_PER_ROUND: positive,
  BACKOFF_BASE_SECONDS: positive,
  BACKOFF_CAP_SECONDS: positive,
  /** What follows an attempt whose outcome nobody knows. */
  UNCLEAR_POLICY: z.enum(UNCLEAR_POLICIES),
  /** How much later than a lost attempt a mail must be whose events were applied, for the attempt to be taken as unsent. */
  WATERMARK_MARGIN_SECONDS: positive,
  /** How long until an event that could not be applied is handed out again, and applied. */
  FEEDBACK_REDELIVERY_SECONDS: positive,
  /** Waiting time after which a person has to decide. */
  UNKNOWN_AFTER_SECONDS: positive,
  /** Mails that may follow lost ones in a round. */
  RESENDS_AFTER_LOST: amount,
  /** Whom canaries are from. */
  FROM_ADDRESS: text,
  /** How long a final recipient is kept. */
  RETENTION_DAYS: positive,
});

/** What the stack must set. */
export type ResolveUnclearEnvVars = Record<keyof z.output<typeof ResolveUnclearEnv>, string>;
