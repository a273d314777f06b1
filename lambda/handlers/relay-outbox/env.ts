import * as z from 'zod';

import { text } from '../../config/env.ts';

/** The settings of the function that carries the table's stream to the queues. */
export const RelayOutboxEnv = z.object({
  /** Dimension of the metrics. */
  STAGE: text,
  SEND_QUEUE_URL: text,
  TASK_QUEUE_URL: text,
  /** Bucket for stream records that no version of this code can handle. */
  FAILURE_BUCKET: text,
});

/** What the stack must set. */
export type RelayOutboxEnvVars = Record<keyof z.output<typeof RelayOutboxEnv>, string>;
