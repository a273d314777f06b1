import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import type { Problem, ProblemCode } from '../../contracts/problem.ts';
import { REQUEST_LIMITS } from '../../domain/dispatch-request.ts';

/** The body of a request as JSON, or the problem with it. */
export type ReadBody =
  | { readonly ok: true; readonly json: unknown }
  | { readonly ok: false; readonly problem: ProblemCode; readonly more?: Pick<Problem, 'detail'> };

/** The parts of an API Gateway event that make its body. */
export interface BodyEvent {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string | undefined;
  readonly isBase64Encoded: boolean;
}

const unzip = promisify(gunzip);

/** A byte order mark is dropped, and what is no UTF-8 refused: a replaced character would go into a mail. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });

const bytes = (n: number): string => `${n.toLocaleString('en-US')} bytes`;
const AS_SENT = `At most 4 MB (${bytes(REQUEST_LIMITS.bodyBytes)}) can be sent at a time. Send it with Content-Encoding: gzip, or as several dispatches.`;
const UNPACKED = `At most 24 MB (${bytes(REQUEST_LIMITS.unpackedBodyBytes)}) unpacked can be sent at a time. Send it as several dispatches.`;

const refuse = (problem: ProblemCode, detail?: string): ReadBody => ({
  ok: false,
  problem,
  ...(detail !== undefined && { more: { detail } }),
});

/** Takes the body out of an event: media type, encoding and sizes first, so that nothing is unpacked in vain or without end. */
export const readBody = async ({ headers, body = '', isBase64Encoded }: BodyEvent): Promise<ReadBody> => {
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') return refuse('unsupported-media-type');
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') return refuse('unsupported-media-type');

  const sent = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  if (sent.byteLength > REQUEST_LIMITS.bodyBytes) return refuse('body-too-large', AS_SENT);
  const unpacked = encoding === 'gzip' ? await unpack(sent) : sent;
  if (unpacked === 'too-large') return refuse('body-too-large', UNPACKED);
  if (unpacked === 'damaged') return refuse('invalid-encoding');

  try {
    return { ok: true, json: JSON.parse(UTF8.decode(unpacked)) };
  } catch {
    return refuse('invalid-json');
  }
};

const unpack = async (packed: Buffer): Promise<Buffer | 'too-large' | 'damaged'> => {
  try {
    return await unzip(packed, { maxOutputLength: REQUEST_LIMITS.unpackedBodyBytes });
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE' ? 'too-large' : 'damaged';
  }
};
