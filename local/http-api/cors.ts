import type { IncomingMessage } from 'node:http';

import type { HttpAnswer } from './answer.ts';

/** What an HTTP API is told about pages of other origins; names of headers in lower case. */
export interface Cors {
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly allowedHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
  readonly maxAgeSeconds: number;
}

type Asked = Pick<IncomingMessage, 'method' | 'headers'>;

/** Whether a browser asks if it may send a request. */
export const isPreflight = ({ method, headers }: Asked): boolean =>
  method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;

const isAllowed = ({ origins }: Cors, { headers }: Asked): boolean =>
  headers.origin !== undefined && origins.includes(headers.origin);

/** The API's own answer to a preflight; for another origin it has no headers, and the browser gives up. */
export const answerPreflight = (cors: Cors, request: Asked): HttpAnswer => ({
  status: 204,
  headers: isAllowed(cors, request)
    ? {
        ...corsHeaders(cors, request),
        'access-control-allow-methods': cors.methods.join(','),
        'access-control-allow-headers': cors.allowedHeaders.join(','),
        'access-control-max-age': String(cors.maxAgeSeconds),
      }
    : {},
  body: Buffer.alloc(0),
});

/** What is added to every answer to a page of an allowed origin. */
export const corsHeaders = (cors: Cors, request: Asked): Readonly<Record<string, string>> =>
  isAllowed(cors, request)
    ? {
        'access-control-allow-origin': request.headers.origin ?? '',
        'access-control-expose-headers': cors.exposedHeaders.join(','),
        vary: 'origin',
      }
    : {};
