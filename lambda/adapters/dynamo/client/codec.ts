import { promisify } from 'node:util';
import { gunzipSync, gzip, gzipSync } from 'node:zlib';

import * as z from 'zod';

import { VariablesSchema } from '../../../contracts/json.ts';
import type { DispatchContent, RecipientInput, TemplateParts } from '../../../domain/dispatch/content.ts';

const Template = z.object({ subject: z.string(), html: z.string().exactOptional(), text: z.string().exactOptional() });

const Content = z.object({
  template: Template,
  subject: z.string().exactOptional(),
  variables: VariablesSchema,
  from: z.string(),
  replyTo: z.string().exactOptional(),
  unsubscribeUrl: z.string().exactOptional(),
}) satisfies z.ZodType<DispatchContent>;

const RecipientInputs = z.array(
  z.object({ applyId: z.string(), email: z.string(), variables: VariablesSchema }),
) satisfies z.ZodType<RecipientInput[]>;

const gzipAside = promisify(gzip);
const unpack = (data: Uint8Array): unknown => JSON.parse(gunzipSync(data).toString('utf8'));

/** The content of a dispatch as it is stored: gzip of JSON. */
export const encodeContent = (content: DispatchContent): Uint8Array => gzipSync(JSON.stringify(content));

/** The reverse of {@link encodeContent}; throws on data no version of this code wrote. */
export const decodeContent = (data: Uint8Array): DispatchContent => Content.parse(unpack(data));

/** A template as it is stored: gzip of JSON. */
export const encodeTemplate = (template: TemplateParts): Uint8Array => gzipSync(JSON.stringify(template));

/** The reverse of {@link encodeTemplate}; throws on data no version of this code wrote. */
export const decodeTemplate = (data: Uint8Array): TemplateParts => Template.parse(unpack(data));

/**
 * Many recipients as they are stored until they are expanded: gzip of JSON, made beside the main thread. Variables keep the order
 * of their names, which a template may go through.
 */
export const encodeBatch = (recipientInputs: readonly RecipientInput[]): Promise<Uint8Array> =>
  gzipAside(JSON.stringify(recipientInputs));

/** The reverse of {@link encodeBatch}; throws on data no version of this code wrote. */
export const decodeBatch = (data: Uint8Array): RecipientInput[] => RecipientInputs.parse(unpack(data));
