import * as z from 'zod';

import type { SesFailure } from './classify.ts';

/** Node's names of what comes before anything is written. */
const BEFORE_WRITE = new Set(['getaddrinfo', 'connect']);

const Syscall = z.string().optional().catch(undefined);

/** The parts of an SDK error that say how the call ended. */
const SdkError = z.object({
  name: z.string().catch('Error'),
  message: z.string().catch(''),
  code: z.string().optional().catch(undefined),
  syscall: Syscall,
  // Set on errors that were read from an answer in the form of SES.
  $fault: z.string().optional().catch(undefined),
  // A name with several addresses: Node tries them in turn, and gives what became of each.
  errors: z
    .array(z.object({ syscall: Syscall }))
    .optional()
    .catch(undefined),
  $metadata: z.object({ httpStatusCode: z.number().optional() }).optional().catch(undefined),
  // On a body that cannot be read the SDK keeps the response here, and the error is only a SyntaxError.
  $response: z.object({ statusCode: z.number().optional() }).optional().catch(undefined),
});

/** Reads an error of the SES client. Its name is unreliable: an HTML page answers as a SyntaxError. */
export const toSesFailure = (error: unknown): SesFailure => {
  const parsed = SdkError.safeParse(error);
  if (!parsed.success) return { name: 'Error', message: '' };
  const { name, message, code, syscall, errors = [], $fault, $metadata, $response } = parsed.data;
  const httpStatus = $metadata?.httpStatusCode ?? $response?.statusCode;
  const tries = errors.length > 0 ? errors.map((error) => error.syscall) : [syscall];
  return {
    name,
    message,
    ...(httpStatus !== undefined && { httpStatus }),
    ...(code !== undefined && { code }),
    // The SDK says `Unknown` for JSON that names no error, and `UnknownError` for an answer without a message.
    isOfSes: $fault !== undefined && name !== 'Unknown' && message !== 'UnknownError',
    // ETIMEDOUT and ECONNRESET alone do not tell whether the mail was on its way.
    beforeWrite: tries.every((call) => call !== undefined && BEFORE_WRITE.has(call)),
  };
};
