import * as z from 'zod';

import { text } from '../../config/env.ts';
import { UNCLEAR_POLICIES } from '../../domain/recipient/unclear.ts';

/** The settings of the function behind the dashboard's widget. */
export const ShowOperationsEnv = z.object({
  /** Dimension of the metrics. */
  STAGE: text,
  TABLE_NAME: text,
  OPEN_INDEX: text,
  /** As the senders have it: what follows a lost answer. */
  UNCLEAR_POLICY: z.enum(UNCLEAR_POLICIES),
});

/** What the stack must set. */
export type ShowOperationsEnvVars = Record<keyof z.output<typeof ShowOperationsEnv>, string>;
