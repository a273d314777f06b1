/** Thrown when a store or service did not answer although it was asked again: the client should ask again. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly retryAfterSeconds: number;

  constructor(what: string, retryAfterSeconds: number, cause?: unknown) {
    super(`${what} did not answer`, { cause });
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
