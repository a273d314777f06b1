import * as z from 'zod';

/** Every problem of the API: the last part of its `type`, its HTTP status and its title. */
export const PROBLEMS = {
  'idempotency-key-missing': { status: 400, title: 'The header Idempotency-Key is missing' },
  'idempotency-key-invalid': { status: 400, title: 'The header Idempotency-Key is not 1 to 255 visible ASCII characters' },
  'invalid-json': { status: 400, title: 'The body is not valid JSON in UTF-8' },
  'invalid-encoding': { status: 400, title: 'The body is not the gzip that its headers announce' },
  'invalid-query': { status: 400, title: 'A query parameter is not valid' },
  'no-subject': { status: 403, title: 'The token names no subject' },
  'operators-only': { status: 403, title: 'Only operators may ask for this' },
  'not-found': { status: 404, title: 'There is no such dispatch' },
  'no-such-recipient': { status: 404, title: 'The dispatch has no such recipient, or none yet' },
  'no-such-export': { status: 404, title: 'The dispatch has no such export' },
  'idempotency-key-conflict': { status: 409, title: 'This Idempotency-Key was used for another request' },
  'possible-duplicate': { status: 409, title: 'The same was accepted a short time ago; allowRepeat sends it once more' },
  'template-changed': { status: 409, title: 'The template is not the one that templateVersion names; preview it again' },
  'already-completed': { status: 409, title: 'The dispatch is completed; there is nothing to cancel' },
  'not-stopped': { status: 409, title: 'The dispatch is not stopped; there is nothing to resume' },
  'already-cancelled': { status: 409, title: 'The dispatch is cancelled; nothing of it is sent any more' },
  expired: { status: 409, title: 'The content of the dispatch is gone; nothing of it can be sent any more' },
  'not-unknown': { status: 409, title: 'The outcome of this mail is known; there is nothing to settle' },
  'body-too-large': { status: 413, title: 'The body is too large' },
  'dispatch-too-large': { status: 413, title: 'The dispatch is too large to be stored' },
  'unsupported-media-type': { status: 415, title: 'The body must be application/json, or that as application/gzip' },
  'invalid-request': { status: 422, title: 'The request is not valid' },
  'unknown-scenario': { status: 422, title: 'There is no template for this scenario' },
  'invalid-template': { status: 422, title: 'A template is not valid' },
  'missing-variables': { status: 422, title: 'Variables that the template needs are missing' },
  'rendering-fault': { status: 422, title: 'A mail cannot be rendered' },
  'template-too-costly': { status: 422, title: 'The templates take too long to render' },
  internal: { status: 500, title: 'The service failed' },
  unavailable: { status: 503, title: 'The service cannot answer now; ask again with the same Idempotency-Key' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

/** One fault of a request. It names places and rules, never a value. */
export const Fault = z.object({
  /** JSON pointer (RFC 6901) into the body. */
  pointer: z.string(),
  /** Stable name of the rule that was broken. */
  rule: z.string(),
  detail: z.string(),
  applyId: z.string().exactOptional(),
});
export type Fault = z.output<typeof Fault>;

/** RFC 9457. */
export const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string().exactOptional(),
  /** The first faults; `total` says how many there are. */
  errors: z.array(Fault).exactOptional(),
  total: z.int().exactOptional(),
  /** Fields in which the request differs from the one that used the key first. */
  fields: z.array(z.string()).exactOptional(),
  /** The earlier dispatch of the same content, if the admin's own. */
  dispatchId: z.string().exactOptional(),
  /** The current version of the template. */
  templateVersion: z.string().exactOptional(),
});
export type Problem = z.output<typeof Problem>;

/** Faults that an answer lists; the rest is only counted. */
export const FAULTS_LISTED = 100;

/** Builds the body of an error answer. */
export const problem = (code: ProblemCode, more: Omit<Problem, 'type' | 'title' | 'status'> = {}): Problem => ({
  type: `urn:mail-dispatch:problem:${code}`,
  ...PROBLEMS[code],
  ...more,
});

/** An answer of the HTTP API. */
export interface HttpAnswer {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** An error answer as it goes over the wire. */
export const problemAnswer = (body: Problem, headers: Record<string, string> = {}): HttpAnswer => ({
  statusCode: body.status,
  headers: { 'content-type': 'application/problem+json', ...headers },
  body: JSON.stringify(body),
});

/** The answer when the service is at fault; with a time, the client may ask again after it. */
export const failureAnswer = (retryAfterSeconds: number | undefined): HttpAnswer =>
  retryAfterSeconds === undefined
    ? problemAnswer(problem('internal'))
    : problemAnswer(problem('unavailable'), { 'retry-after': String(retryAfterSeconds) });

/** An answer that is no error. */
export const jsonAnswer = (statusCode: number, body: unknown, headers: Record<string, string> = {}): HttpAnswer => ({
  statusCode,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

/** Joins the steps of a JSON pointer. */
export const toPointer = (path: readonly PropertyKey[]): string =>
  path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
