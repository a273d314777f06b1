import * as z from 'zod';

import type { SesFailure } from './classify.ts';

/** The parts of an SDK error that say how the call ended. */
const SdkError = z.object({
  name: z.string().catch('Error'),
  message: z.string().catch(''),
  code: z.string().optional().catch(undefined),
  $metadata: z.object({ httpStatusCode: z.number().optional() }).optional().catch(undefined),
  // On a body that cannot be read the SDK keeps the response here, and the error is only a SyntaxError.
  $response: z.object({ statusCode: z.number().optional() }).optional().catch(undefined),
});

/** Reads an error of the SES client. Its name is unreliable: an HTML page answers as a SyntaxError. */
export const toSesFailure = (error: unknown): SesFailure => {
  const parsed = SdkError.safeParse(error);
  if (!parsed.success) return { name: 'Error', message: '' };
  const { name, message, code, $metadata, $response } = parsed.data;
  const httpStatus = $metadata?.httpStatusCode ?? $response?.statusCode;
  return { name, message, ...(httpStatus !== undefined && { httpStatus }), ...(code !== undefined && { code }) };
};
