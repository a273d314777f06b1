import * as z from 'zod';

import type { TemplateResource } from './assembly.ts';

/** A part of the template that the local stack cannot do faithfully. */
export class NotUnderstoodError extends Error {
  override readonly name = 'NotUnderstoodError';

  constructor(resource: TemplateResource, what: string, options?: ErrorOptions) {
    super(`${resource.path} (${resource.type}): ${what}`, options);
  }
}

/** A property that is known and changes nothing here; the reason is for the reader. */
export const withoutEffect = (reason: string) => z.unknown().optional().describe(reason);

const describeIssue = (issue: z.core.$ZodIssue): string => {
  const where = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `property ${[...issue.path, key].join('.')} is not understood by the local stack`).join('; ');
  }
  return `property ${where}: ${issue.message}; the local stack understands nothing else there`;
};

/** A resource's resolved properties in the shape the local stack knows; throws on anything else. */
export const parseResource = <T>(resource: TemplateResource, schema: z.ZodType<T>, properties: unknown): T => {
  const result = schema.safeParse(properties);
  if (result.success) return result.data;
  throw new NotUnderstoodError(resource, result.error.issues.map(describeIssue).join('; '));
};
