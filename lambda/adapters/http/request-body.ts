import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import type { Problem, ProblemCode } from '../../contracts/http/problem.ts';
import { REQUEST_LIMITS } from '../../domain/dispatch/dispatch-request.ts';

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
const AS_SENT = `At most 4 MB (${bytes(REQUEST_LIMITS.bodyBytes)}) can be sent at a time. Send it as gzip with Content-Type: application/gzip, or as several dispatches.`;
const UNPACKED = `At most 24 MB (${bytes(REQUEST_LIMITS.unpackedBodyBytes)}) unpacked can be sent at a time. Send it as several dispatches.`;

/** The gateway hands a body over as text where Content-Type says JSON, whatever Content-Encoding says. */
const TAKEN_FOR_TEXT =
  'The gateway took the compressed body for text, so its bytes are lost. Send the gzip with Content-Type: application/gzip and without Content-Encoding.';
const UNANNOUNCED = 'The body is gzip. Send it with Content-Type: application/gzip.';

const refuse = (problem: ProblemCode, detail?: string): ReadBody => ({
  ok: false,
  problem,
  ...(detail !== undefined && { more: { detail } }),
});

/** Takes the body out of an event: media type, encoding and sizes first, so that nothing is unpacked in vain or without end. */
export const readBody = async ({ headers, body = '', isBase64Encoded }: BodyEvent): Promise<ReadBody> => {
  const form = formOf(headers);
  if (form === undefined) return refuse('unsupported-media-type');

  const sent = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  if (sent.byteLength > REQUEST_LIMITS.bodyBytes) return refuse('body-too-large', AS_SENT);
  const unpacked = form === 'gzip' ? await unpack(sent) : sent;
  if (unpacked === 'too-large') return refuse('body-too-large', UNPACKED);
  if (unpacked === 'damaged') return refuse('invalid-encoding', wasTakenForText(sent) ? TAKEN_FOR_TEXT : undefined);

  try {
    return { ok: true, json: JSON.parse(UTF8.decode(unpacked)) };
  } catch {
    if (isGzip(unpacked)) return refuse('invalid-encoding', UNANNOUNCED);
    return wasTakenForText(unpacked) ? refuse('invalid-encoding', TAKEN_FOR_TEXT) : refuse('invalid-json');
  }
};

/** How the body is written, by its headers; undefined: in a way that is not read. */
const formOf = (headers: BodyEvent['headers']): 'json' | 'gzip' | undefined => {
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') return undefined;
  // Clients that set both headers have compressed once.
  if (mediaType === 'application/gzip') return 'gzip';
  if (mediaType !== 'application/json') return undefined;
  return encoding === 'gzip' ? 'gzip' : 'json';
};

const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/** Gzip begins with 1f 8b. The second byte is no UTF-8: it was replaced by U+FFFD, or taken for the character U+008B. */
const wasTakenForText = (bytes: Buffer): boolean =>
  bytes[0] === 0x1f && ['\ufffd', '\u008b'].some((second) => bytes.subarray(1, 4).indexOf(second) === 0);

const unpack = async (packed: Buffer): Promise<Buffer | 'too-large' | 'damaged'> => {
  try {
    return await unzip(packed, { maxOutputLength: REQUEST_LIMITS.unpackedBodyBytes });
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE' ? 'too-large' : 'damaged';
  }
};
