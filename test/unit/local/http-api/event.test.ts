import { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { toHttpEvent } from '../../../../local/http-api/event.ts';

const eventOf = (url: string, headersDistinct: Record<string, string[]>, body: string | Uint8Array = '') =>
  toHttpEvent({
    request: { method: 'POST', url, headersDistinct, socket: new Socket() },
    body: Buffer.from(body),
    routeKey: 'POST /dispatches',
    pathParameters: {},
    apiId: 'api',
    now: new Date('2026-03-04T05:06:07Z'),
  });

describe('the event of a request', () => {
  it('hands text over as it is', () => {
    expect(eventOf('/', { 'content-type': ['application/json; charset=utf-8'] }, '{"a":"한"}')).toMatchObject({
      body: '{"a":"한"}',
      isBase64Encoded: false,
    });
  });

  it('hands JSON over as text even where it is compressed, so that bytes are lost', () => {
    const event = eventOf('/', { 'content-type': ['application/json'], 'content-encoding': ['gzip'] }, gzipSync('{}'));

    expect(event.isBase64Encoded).toBe(false);
    expect(event.body?.slice(0, 2)).toBe('\u001f\ufffd');
  });

  it.each([
    { 'content-type': ['application/octet-stream'] },
    { 'content-type': ['application/gzip'] },
    { 'content-type': ['application/problem+json'] },
    { 'content-type': ['application/x-www-form-urlencoded'] },
    {},
  ])('hands anything else over as base64: %j', (headers) => {
    expect(eventOf('/', headers, 'ab')).toMatchObject({ body: 'YWI=', isBase64Encoded: true });
  });

  it('has no body where the request has none', () => {
    expect(eventOf('/', {})).not.toHaveProperty('body');
  });

  it('joins what comes several times, and keeps cookies apart', () => {
    const event = eventOf('/a%20b?x=1&y=&x=2', { accept: ['a', 'b'], cookie: ['c=1; d=2'] });
    expect(event).toMatchObject({
      rawPath: '/a%20b',
      rawQueryString: 'x=1&y=&x=2',
      queryStringParameters: { x: '1,2', y: '' },
      headers: { accept: 'a,b' },
      cookies: ['c=1', 'd=2'],
    });
    expect(event.headers).not.toHaveProperty('cookie');
  });

  it('tells the time as the gateway does', () => {
    expect(eventOf('/', {}).requestContext).toMatchObject({ time: '04/Mar/2026:05:06:07 +0000', timeEpoch: 1_772_600_767_000 });
  });
});
