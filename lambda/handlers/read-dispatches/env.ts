import * as z from 'zod';

import { text } from '../../config/env.ts';

/** The settings of the function that answers what became of a dispatch. */
export const ReadDispatchesEnv = z.object({ TABLE_NAME: text });

/** What the stack must set. */
export type ReadDispatchesEnvVars = Record<keyof z.output<typeof ReadDispatchesEnv>, string>;
