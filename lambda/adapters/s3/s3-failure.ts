const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const statusOf = (error: Error): unknown =>
  '$metadata' in error && isRecord(error.$metadata) ? error.$metadata['httpStatusCode'] : undefined;

/** Answered below 500, and yet about the moment, not about the request. */
const PASSING_NAMES = new Set(['RequestTimeout', 'OperationAborted', 'SlowDown', 'TooManyRequestsException']);

/** Whether S3 may take the same call the next time: no answer, throttled, or trouble on its side. */
export const isTransientOfS3 = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const status = statusOf(error);
  return typeof status !== 'number' || status >= 500 || status === 429 || PASSING_NAMES.has(error.name);
};

/** Whether S3 says that there is no such object; without the right to list the bucket it says 403 instead. */
export const isMissing = (error: unknown): boolean => error instanceof Error && error.name === 'NoSuchKey';
