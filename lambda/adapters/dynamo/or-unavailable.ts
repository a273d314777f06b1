import { Unavailable } from '../../application/accept-ports.ts';
import { isPassing } from './statements.ts';

const RETRY_AFTER_SECONDS = 1;

/** Reads for somebody who can ask again: trouble that passes becomes {@link Unavailable}. */
export const orUnavailable = async <T>(read: () => Promise<T>): Promise<T> => {
  try {
    return await read();
  } catch (error) {
    if (isPassing(error)) throw new Unavailable('the table', RETRY_AFTER_SECONDS, error);
    throw error;
  }
};
