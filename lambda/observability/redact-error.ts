/** What of an error may be logged: messages of AWS quote addresses and items, so the name, the code and the place must do. */
export const redactError = (error: unknown): Record<string, unknown> => {
  if (!(error instanceof Error)) return { error: typeof error };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    error: error.name,
    at: frames.slice(0, 8).map((line) => line.trim()),
    ...(error.cause !== undefined && { cause: redactError(error.cause) }),
  };
};
