import type { Logger } from '@aws-lambda-powertools/logger';

import { redactError } from './redact-error.ts';

/** Thrown in place of an error whose message may quote an address or an item; the runtime logs what it is thrown. */
export class FunctionFailedError extends Error {
  override readonly name = 'FunctionFailedError';
}

/** Middy middleware: logs of an error what may be logged, and lets the invocation fail without the rest. */
export const hideErrors = (logger: Logger) => ({
  onError: (request: { error: unknown }): void => {
    logger.error('function failed', redactError(request.error));
    request.error = new FunctionFailedError('see the log line before this one');
  },
});
