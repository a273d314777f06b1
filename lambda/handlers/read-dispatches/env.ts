import * as z from 'zod';

import { text } from '../../config/env.ts';

/** The settings of the function that answers what became of dispatches. */
export const ReadDispatchesEnv = z.object({
  /** Dimension of the metrics. */
  STAGE: text,
  TABLE_NAME: text,
  BY_ADMIN_INDEX: text,
  OPEN_INDEX: text,
  EXPORT_BUCKET: text,
  /** What the issuer puts before our scopes; may be empty. */
  SCOPE_PREFIX: z.string(),
});

/** What the stack must set. */
export type ReadDispatchesEnvVars = Record<keyof z.output<typeof ReadDispatchesEnv>, string>;
