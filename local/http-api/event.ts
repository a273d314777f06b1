import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import type { JwtIdentity } from './authorizer.ts';

/** What the event is made from. */
export interface EventInput {
  readonly request: Pick<IncomingMessage, 'method' | 'url' | 'headersDistinct' | 'socket'>;
  readonly body: Buffer;
  readonly routeKey: string;
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly identity?: JwtIdentity;
  readonly apiId: string;
  readonly now: Date;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const accessLogTime = (now: Date): string => {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${two(now.getUTCDate())}/${MONTHS[now.getUTCMonth()] ?? ''}/${now.getUTCFullYear()}`;
  return `${day}:${two(now.getUTCHours())}:${two(now.getUTCMinutes())}:${two(now.getUTCSeconds())} +0000`;
};

/** The gateway hands these over as text, which damages what is compressed; everything else as base64. Content-Encoding is not looked at. */
const isText = (headers: Readonly<Record<string, string>>): boolean =>
  /^(text\/|application\/(json|javascript|xml)\s*(;|$))/i.test(headers['content-type'] ?? '');

const joinHeaders = (distinct: NodeJS.Dict<string[]>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(distinct).flatMap(([name, values]) => (values && name !== 'cookie' ? [[name, values.join(',')]] : [])),
  );

const joinQuery = (query: URLSearchParams): Record<string, string> =>
  Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name).join(',')]));

/** The event of payload format 2.0 for a request. */
export const toHttpEvent = ({ request, body, routeKey, pathParameters, identity, apiId, now }: EventInput) => {
  const [rawPath = '/', ...query] = (request.url ?? '/').split('?');
  const rawQueryString = query.join('?');
  const headers = joinHeaders(request.headersDistinct);
  const cookies = request.headersDistinct['cookie']?.flatMap((line) => line.split(/; */));
  const queryStringParameters = joinQuery(new URLSearchParams(rawQueryString));
  const text = isText(headers);
  return {
    version: '2.0',
    routeKey,
    rawPath,
    rawQueryString,
    ...(cookies && { cookies }),
    headers,
    ...(rawQueryString !== '' && { queryStringParameters }),
    ...(Object.keys(pathParameters).length > 0 && { pathParameters }),
    requestContext: {
      accountId: '000000000000',
      apiId,
      ...(identity && { authorizer: { jwt: { claims: identity.claims, scopes: identity.scopes } } }),
      domainName: headers['host'] ?? 'localhost',
      domainPrefix: 'localhost',
      http: {
        method: request.method ?? 'GET',
        path: rawPath,
        protocol: 'HTTP/1.1',
        sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey,
      stage: '$default',
      time: accessLogTime(now),
      timeEpoch: now.getTime(),
    },
    ...(body.length > 0 && { body: body.toString(text ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !text,
  };
};
