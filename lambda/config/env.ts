import * as z from 'zod';

/** Reads a function's settings once, at cold start; throws one error that names every bad one. */
export const parseEnv = <T extends z.ZodType>(schema: T, source: NodeJS.ProcessEnv): z.output<T> => {
  const result = schema.safeParse(source);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new Error(`bad environment: ${problems.join('; ')}`);
};

/** A setting that must be there. */
export const text = z.string().min(1);

/** A whole number of at least 1; CloudFormation hands it over as a string. */
export const positive = z.coerce.number().int().positive();

/** A number of at least 0. */
export const amount = z.coerce.number().nonnegative();

/** A part of a whole: above 0, at most 1. */
export const share = z.coerce.number().positive().max(1);

/** Texts with commas between them; may be empty. */
export const list = z.string().transform((joined) => joined.split(',').filter((each) => each !== ''));
