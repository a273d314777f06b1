import * as z from 'zod';

import { positive, text } from '../../config/env.ts';

/** The settings of the scheduled recovery. */
export const SweepEnv = z.object({
  /** Dimension of the metrics. */
  STAGE: text,
  TABLE_NAME: text,
  /** Stable id of the table: first part of the keys in the bucket. */
  TABLE_ID: text,
  /** Bucket of long lists and large content. */
  LIST_BUCKET: text,
  /** Name of the index that holds the dispatches which are not finished. */
  OPEN_INDEX: text,
  SEND_QUEUE_URL: text,
  TASK_QUEUE_URL: text,
  /** A dispatch counts as stuck when nothing of it changed for this long. */
  STUCK_AFTER_SECONDS: positive,
  /** The rows of one dispatch are looked at no more often than this. */
  REVISIT_SECONDS: positive,
  /** How long the content of a finished dispatch is kept. */
  RETENTION_DAYS: positive,
});

/** What the stack must set. */
export type SweepEnvVars = Record<keyof z.output<typeof SweepEnv>, string>;
