import * as z from 'zod';

import { amount, list, positive, share, text } from '../../config/env.ts';

/** The settings of the function that hands mails to SES. */
export const SendRecipientsEnv = z.object({
  /** Dimension of the metrics. */
  STAGE: text,
  TABLE_NAME: text,
  /** Stable id of the table: tells a restored one. */
  TABLE_ID: text,
  SEND_QUEUE_URL: text,
  /** Bucket of large content. */
  LIST_BUCKET: text,
  CONFIGURATION_SET: text,
  /** Most bytes of one rendered mail. */
  MAX_MAIL_BYTES: positive,
  /** How long a claim is ours; longer than the function may run. */
  LEASE_SECONDS: positive,
  /** How long one SES call may take before its outcome counts as unclear. */
  SES_TIMEOUT_SECONDS: positive,
  ATTEMPTS_PER_ROUND: positive,
  BACKOFF_BASE_SECONDS: positive,
  BACKOFF_CAP_SECONDS: positive,
  /** Receives after which SQS moves a message to the dead-letter queue. */
  MAX_RECEIVE_COUNT: positive,
  /** Senders that may run at once; each gets that share of the account's rate. */
  MAX_CONCURRENCY: positive,
  /** SES calls under way at once in one sender. */
  PARALLEL_CALLS: positive,
  /** Mails per second for this service, below what the account allows; 0: what the account allows. */
  MAX_SEND_RATE: amount,
  /** The part of the account's rate that this service uses. */
  RATE_SHARE: share,
  /** First and longest pause when the account cannot send. */
  PAUSE_BASE_SECONDS: positive,
  PAUSE_CAP_SECONDS: positive,
  /** How long messages wait during an operator's pause before they are looked at again. */
  PAUSE_LOOK_SECONDS: positive,
  /** Who canaries are from; dispatches of another sender are stopped when SES refuses them. */
  FROM_ADDRESS: text,
  /** Addresses, domains and `*.domain` that may be mailed beside the simulator of SES; `*`: everybody. */
  ALLOWED_RECIPIENTS: list,
  /** How long a final recipient is kept. */
  RETENTION_DAYS: positive,
});

/** What the stack must set. */
export type SendRecipientsEnvVars = Record<keyof z.output<typeof SendRecipientsEnv>, string>;
