import * as z from 'zod';

import { positive, text } from '../../config/env.ts';

/** The settings of the function that counts and tells how far dispatches are. */
export const FollowProgressEnv = z.object({
  /** Dimension of the metrics. */
  STAGE: text,
  TABLE_NAME: text,
  EVENT_BUS_NAME: text,
  /** How long the content of a finished dispatch is kept. */
  RETENTION_DAYS: positive,
});

/** What the stack must set. */
export type FollowProgressEnvVars = Record<keyof z.output<typeof FollowProgressEnv>, string>;
