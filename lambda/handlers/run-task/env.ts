import * as z from 'zod';

import { positive, text } from '../../config/env.ts';

/** The settings of the function that does the long work on a dispatch. */
export const RunTaskEnv = z.object({
  /** Dimension of the metrics. */
  STAGE: text,
  TABLE_NAME: text,
  SEND_QUEUE_URL: text,
  TASK_QUEUE_URL: text,
  EXPORT_BUCKET: text,
  /** Bucket of long lists of recipients. */
  LIST_BUCKET: text,
  /** How long a final recipient is kept. */
  RETENTION_DAYS: positive,
});

/** What the stack must set. */
export type RunTaskEnvVars = Record<keyof z.output<typeof RunTaskEnv>, string>;
