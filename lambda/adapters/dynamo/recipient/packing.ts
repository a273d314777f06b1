import { promisify } from 'node:util';
import { gunzipSync, gzip, gzipSync } from 'node:zlib';

import * as z from 'zod';

import { VariablesSchema } from '../../../contracts/json.ts';
import type { Addressee, DispatchContent, TemplateParts } from '../../../domain/dispatch/content.ts';

const Template = z.object({ subject: z.string(), html: z.string().exactOptional(), text: z.string().exactOptional() });

const Content = z.object({
  template: Template,
  subject: z.string().exactOptional(),
  variables: VariablesSchema,
  from: z.string(),
  replyTo: z.string().exactOptional(),
  unsubscribeUrl: z.string().exactOptional(),
}) satisfies z.ZodType<DispatchContent>;

const Addressees = z.array(z.object({ applyId: z.string(), email: z.string(), variables: VariablesSchema })) satisfies z.ZodType<
  Addressee[]
>;

const gzipAside = promisify(gzip);
const unpack = (data: Uint8Array): unknown => JSON.parse(gunzipSync(data).toString('utf8'));

/** The content of a dispatch as it is stored: gzip of JSON. */
export const packContent = (content: DispatchContent): Uint8Array => gzipSync(JSON.stringify(content));

/** The reverse of {@link packContent}; throws on data no version of this code wrote. */
export const unpackContent = (data: Uint8Array): DispatchContent => Content.parse(unpack(data));

/** A template as it is stored: gzip of JSON. */
export const packTemplate = (template: TemplateParts): Uint8Array => gzipSync(JSON.stringify(template));

/** The reverse of {@link packTemplate}; throws on data no version of this code wrote. */
export const unpackTemplate = (data: Uint8Array): TemplateParts => Template.parse(unpack(data));

/**
 * Many recipients as they are stored until they are expanded: gzip of JSON, made beside the main thread. Variables keep the order
 * of their names, which a template may go through.
 */
export const packBatch = (addressees: readonly Addressee[]): Promise<Uint8Array> => gzipAside(JSON.stringify(addressees));

/** The reverse of {@link packBatch}; throws on data no version of this code wrote. */
export const unpackBatch = (data: Uint8Array): Addressee[] => Addressees.parse(unpack(data));
