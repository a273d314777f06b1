import * as z from 'zod';

import { text } from '../../config/env.ts';

/** The settings of the function that does the long work on a dispatch. */
export const CarryOutTaskEnv = z.object({ TABLE_NAME: text });

/** What the stack must set. */
export type CarryOutTaskEnvVars = Record<keyof z.output<typeof CarryOutTaskEnv>, string>;
