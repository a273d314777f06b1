import * as z from 'zod';

import { text } from '../../config/env.ts';

/** The settings of the function that pauses and resumes all sending. */
export const OperateSendingEnv = z.object({
  /** Dimension of the metrics. */
  STAGE: text,
  TABLE_NAME: text,
});

/** What the stack must set. */
export type OperateSendingEnvVars = Record<keyof z.output<typeof OperateSendingEnv>, string>;
