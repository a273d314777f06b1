import { Unavailable } from '../../application/ports/errors.ts';
import { failureAnswer, type HttpAnswer } from '../../contracts/http/problem.ts';

/** How a request ended. */
export type Ending = 'answered' | 'refused' | 'unavailable' | 'failed';

/**
 * Answers what went wrong: 503 with a time to come again where the service may answer then, 500 otherwise.
 * @param tell is told how the request ended, and by what error
 */
export const withErrorMapping = async (
  answer: () => Promise<HttpAnswer>,
  tell: (ending: Ending, error?: unknown) => void,
): Promise<HttpAnswer> => {
  try {
    const answered = await answer();
    tell(answered.statusCode < 400 ? 'answered' : 'refused');
    return answered;
  } catch (error) {
    const retryAfterSeconds = error instanceof Unavailable ? error.retryAfterSeconds : undefined;
    tell(retryAfterSeconds === undefined ? 'failed' : 'unavailable', error);
    return failureAnswer(retryAfterSeconds);
  }
};
