import * as z from 'zod';

import { text } from '../../config/env.ts';

/** The settings of the function behind the dashboard's widget. */
export const ShowOperationsEnv = z.object({ TABLE_NAME: text, OPEN_INDEX: text });

/** What the stack must set. */
export type ShowOperationsEnvVars = Record<keyof z.output<typeof ShowOperationsEnv>, string>;
