import * as z from 'zod';

import { amount, list, positive, share, text } from '../../config/env.ts';

/** The settings of the function that accepts dispatches. */
export const AcceptDispatchEnv = z.object({
  /** Dimension of the metrics. */
  STAGE: text,
  TABLE_NAME: text,
  /** Stable id of the table: first part of the keys in the bucket. */
  TABLE_ID: text,
  /** Bucket for long lists of recipients and large content. */
  LIST_BUCKET: text,
  /** Most bytes of one rendered mail. */
  MAX_MAIL_BYTES: positive,
  /** Put before the scenario id to get the name of the SES template; may be empty. */
  TEMPLATE_PREFIX: z.string(),
  /** Who mails are from, as it goes into the header. */
  FROM_ADDRESS: text,
  /** As it goes into the header; empty: answers go to the From address. */
  REPLY_TO_ADDRESS: z.string(),
  /** Addresses, domains and `*.domain` that may be mailed beside the simulator of SES; `*`: everybody. */
  ALLOWED_RECIPIENTS: list,
  /** How long the same content is not taken again under another key. */
  REPEAT_GUARD_SECONDS: positive,
  /** For estimates: what waits there goes out first. */
  SEND_QUEUE_URL: text,
  /** Mails per second for this service, below what the account allows; 0: what the account allows. */
  MAX_SEND_RATE: amount,
  /** The part of the account's rate that this service uses. */
  RATE_SHARE: share,
  /** For estimates: mails per second that the deployed senders can send, whatever the account allows. */
  SENDER_CEILING: amount,
});

/** What the stack must set. */
export type AcceptDispatchEnvVars = Record<keyof z.output<typeof AcceptDispatchEnv>, string>;
