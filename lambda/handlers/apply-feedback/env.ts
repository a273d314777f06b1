import * as z from 'zod';

import { positive, text } from '../../config/env.ts';

/** The settings of the function that applies SES's events to recipients. */
export const ApplyFeedbackEnv = z.object({
  /** Dimension of the metrics. */
  STAGE: text,
  TABLE_NAME: text,
  /** How long a final recipient is kept. */
  RETENTION_DAYS: positive,
  /** An event that takes longer than this to come shows that feedback is behind. */
  BEHIND_AFTER_SECONDS: positive,
  /** How long until an event that could not be applied is handed out again, and applied. */
  FEEDBACK_REDELIVERY_SECONDS: positive,
});

/** What the stack must set. */
export type ApplyFeedbackEnvVars = Record<keyof z.output<typeof ApplyFeedbackEnv>, string>;
