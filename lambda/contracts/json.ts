import * as z from 'zod';

import type { JsonValue } from '../domain/dispatch/content.ts';

/** Any JSON value. */
export const Json: z.ZodType<JsonValue> = z.json();

/** A JSON object: the values for a template's placeholders. */
export const VariablesSchema = z.record(z.string(), Json);
