import { gzipSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { type BodyEvent, readBody } from '../../../../../lambda/adapters/http/request-body.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const GZIP = { ...JSON_TYPE, 'content-encoding': 'gzip' };

const plain = (body: string, headers: BodyEvent['headers'] = JSON_TYPE): BodyEvent => ({ headers, body, isBase64Encoded: false });
const packed = (data: Uint8Array, headers: BodyEvent['headers'] = GZIP): BodyEvent => ({
  headers,
  body: Buffer.from(data).toString('base64'),
  isBase64Encoded: true,
});
/** JSON of exactly so many bytes. */
const jsonOf = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`;
const problemOf = async (event: BodyEvent): Promise<string> => {
  const read = await readBody(event);
  return read.ok ? 'fine' : read.problem;
};

const LIMIT = 4_096_000;
const UNPACKED_LIMIT = 24_576_000;

describe('a body', () => {
  it.each<[string, BodyEvent]>([
    ['as text', plain('{"name":"김"}')],
    ['in base64', packed(Buffer.from('{"name":"김"}'), JSON_TYPE)],
    ['packed', packed(gzipSync('{"name":"김"}'))],
    ['with a charset', plain('{"name":"김"}', { 'content-type': 'Application/JSON; charset=utf-8' })],
    ['with the encoding identity', plain('{"name":"김"}', { ...JSON_TYPE, 'content-encoding': 'identity' })],
    ['with the encoding in capitals', packed(gzipSync('{"name":"김"}'), { ...JSON_TYPE, 'content-encoding': ' GZIP ' })],
    ['as the media type gzip', packed(gzipSync('{"name":"김"}'), { 'content-type': 'application/gzip' })],
    [
      'as the media type and the encoding gzip, compressed once',
      packed(gzipSync('{"name":"김"}'), { 'content-type': 'application/gzip', 'content-encoding': 'gzip' }),
    ],
    ['with a byte order mark', packed(Buffer.from('\uFEFF{"name":"김"}'), JSON_TYPE)],
  ])('is read %s', async (_name, event) => {
    expect(await readBody(event)).toEqual({ ok: true, json: { name: '김' } });
  });

  it.each<[string, BodyEvent, string]>([
    ['of another type', plain('{}', { 'content-type': 'text/plain' }), 'unsupported-media-type'],
    ['without a type', plain('{}', {}), 'unsupported-media-type'],
    ['of another encoding', packed(Buffer.from('{}'), { ...JSON_TYPE, 'content-encoding': 'br' }), 'unsupported-media-type'],
    ['that is no JSON', plain('{'), 'invalid-json'],
    ['that is empty', plain(''), 'invalid-json'],
    ['that is absent', { headers: JSON_TYPE, isBase64Encoded: false }, 'invalid-json'],
    ['that is no UTF-8', packed(Buffer.from([0x22, 0xc3, 0x28, 0x22]), JSON_TYPE), 'invalid-json'],
    ['that is not packed as it says', packed(Buffer.from('{}')), 'invalid-encoding'],
    ['that was cut off', packed(gzipSync('{"a":1}').subarray(0, 12)), 'invalid-encoding'],
    ['that is called gzip and is none', packed(Buffer.from('{}'), { 'content-type': 'application/gzip' }), 'invalid-encoding'],
    ['that is gzip and is called JSON', packed(gzipSync('{}'), JSON_TYPE), 'invalid-encoding'],
    ['that was packed and then taken for text', plain(gzipSync('{}').toString('latin1'), GZIP), 'invalid-encoding'],
  ])('%s is refused (A6)', async (_name, event, problem) => {
    expect(await problemOf(event)).toBe(problem);
  });
});

describe('gzip whose bytes were replaced on the way', () => {
  it.each<[string, BodyEvent]>([
    ['in UTF-8', plain(gzipSync('{"name":"김"}').toString('utf8'), GZIP)],
    ['in Latin-1', plain(gzipSync('{"name":"김"}').toString('latin1'), GZIP)],
    ['in UTF-8, and called plain JSON', plain(gzipSync('{"name":"김"}').toString('utf8'))],
    ['in UTF-8, and then base64', packed(Buffer.from(gzipSync('{"name":"김"}').toString('utf8')))],
  ])('is refused with the form that is sure: %s (A6)', async (_name, event) => {
    const read = await readBody(event);

    expect(read).toMatchObject({ ok: false, problem: 'invalid-encoding' });
    expect(read.ok ? '' : read.more?.detail).toContain('Content-Type: application/gzip and without Content-Encoding');
  });

  it('is not suspected where gzip was merely cut off', async () => {
    const read = await readBody(packed(gzipSync('{"a":1}').subarray(0, 12)));

    expect(read).toEqual({ ok: false, problem: 'invalid-encoding' });
  });
});

describe('a size (A6, U19)', () => {
  it.each<[string, BodyEvent, string]>([
    ['3.9 MB', plain(jsonOf(3_900_000)), 'fine'],
    ['3.9 MiB', plain(jsonOf(3.9 * 1024 * 1024)), 'fine'],
    ['the limit', plain(jsonOf(LIMIT)), 'fine'],
    ['a byte more', plain(jsonOf(LIMIT + 1)), 'body-too-large'],
    ['a byte more in base64', packed(Buffer.from(jsonOf(LIMIT + 1)), JSON_TYPE), 'body-too-large'],
    ['the limit in base64', packed(Buffer.from(jsonOf(LIMIT)), JSON_TYPE), 'fine'],
    ['two million characters of three bytes', plain(`"${'김'.repeat(2_000_000)}"`), 'body-too-large'],
    ['4.1 MB', plain(jsonOf(4_100_000)), 'body-too-large'],
    ['7 MB', plain(jsonOf(7_000_000)), 'body-too-large'],
    ['20 MB packed', packed(gzipSync(jsonOf(20_000_000))), 'fine'],
    ['the limit unpacked', packed(gzipSync(jsonOf(UNPACKED_LIMIT))), 'fine'],
    ['a byte more unpacked', packed(gzipSync(jsonOf(UNPACKED_LIMIT + 1))), 'body-too-large'],
  ])('of %s is %s', async (_name, event, expected) => {
    expect(await problemOf(event)).toBe(expected);
  });

  it('that grows without end is not unpacked to the end', async () => {
    const bomb = packed(gzipSync(Buffer.alloc(400_000_000)));
    const before = process.memoryUsage().rss;

    expect(await problemOf(bomb)).toBe('body-too-large');
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
  });

  it.each<[string, BodyEvent, RegExp]>([
    ['as sent', plain(jsonOf(LIMIT + 1)), /4 MB \(4,096,000 bytes\).*gzip/],
    ['unpacked', packed(gzipSync(jsonOf(UNPACKED_LIMIT + 1))), /24 MB \(24,576,000 bytes\) unpacked/],
  ])('beyond the limit names it, %s', async (_name, event, detail) => {
    const read = await readBody(event);

    expect(read.ok ? '' : read.more?.detail).toMatch(detail);
  });
});
