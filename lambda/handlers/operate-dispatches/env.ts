import * as z from 'zod';

import { text } from '../../config/env.ts';

/** The settings of the function that cancels and resumes dispatches. */
export const OperateDispatchesEnv = z.object({ TABLE_NAME: text });

/** What the stack must set. */
export type OperateDispatchesEnvVars = Record<keyof z.output<typeof OperateDispatchesEnv>, string>;
