import { Unavailable } from '../../../application/ports/errors.ts';
import { isThrottling, isTransient } from '../recipient/statements.ts';

/** A conflict is over in a moment; a partition that throttles needs longer until it takes more. */
const RETRY_AFTER_SECONDS = 1;
const THROTTLED_RETRY_AFTER_SECONDS = 5;

/** When a client should ask again after that error, in seconds. */
export const retryAfter = (error: unknown): number => (isThrottling(error) ? THROTTLED_RETRY_AFTER_SECONDS : RETRY_AFTER_SECONDS);

/** Reads for somebody who can ask again: trouble that passes becomes {@link Unavailable}. */
export const orUnavailable = async <T>(read: () => Promise<T>): Promise<T> => {
  try {
    return await read();
  } catch (error) {
    if (isTransient(error)) throw new Unavailable('the table', retryAfter(error), error);
    throw error;
  }
};
