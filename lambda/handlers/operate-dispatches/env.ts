import * as z from 'zod';

import { positive, text } from '../../config/env.ts';

/** The settings of the function that carries out what people ask for about dispatches and recipients. */
export const OperateDispatchesEnv = z.object({
  /** Dimension of the metrics. */
  STAGE: text,
  TABLE_NAME: text,
  /** How long a final recipient is kept. */
  RETENTION_DAYS: positive,
  /** What the issuer puts before our scopes; may be empty. */
  SCOPE_PREFIX: z.string(),
});

/** What the stack must set. */
export type OperateDispatchesEnvVars = Record<keyof z.output<typeof OperateDispatchesEnv>, string>;
