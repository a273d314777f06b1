import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { SendingRequest } from '../../../../lambda/application/commands/operate-sending.ts';
import { Unavailable } from '../../../../lambda/application/ports/errors.ts';
import type { Sending } from '../../../../lambda/domain/sending/pause.ts';
import { createHandler } from '../../../../lambda/handlers/operate-sending/handler.ts';
import { type Captured, captureOutput } from '../../../support/captured-output.ts';
import { T0 } from '../../../support/clock.ts';
import { httpEvent, type RequestParts } from '../../../support/http.ts';
import { aContext } from '../../../support/lambda-events.ts';

let output: Captured;
beforeEach(() => {
  output = captureOutput();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const GET = 'GET /sending';
const PUT = 'PUT /sending';
const WHO = 'secret.kim@private.example.com';
const paused: Sending = { version: 1, pause: { by: 'operator', who: WHO, reason: 'secret reason', since: T0 } };

const call = async (parts: RequestParts, { changed = true, error }: { changed?: boolean; error?: Error } = {}) => {
  const queries: SendingRequest[] = [];
  const handler = createHandler({
    operateSending: {
      read: () => (error ? Promise.reject(error) : Promise.resolve({ sending: paused, changed: false })),
      change: (query) => {
        queries.push(query);
        return error ? Promise.reject(error) : Promise.resolve({ sending: paused, changed });
      },
    },
    telemetry: output.telemetry,
  });
  const headers = { 'content-type': 'application/json' };
  const claims = { sub: WHO, scope: 'mail:operate' };
  const answer = await handler(httpEvent({ routeKey: PUT, headers, claims, ...parts }), aContext());
  return { ...answer, json: JSON.parse(answer.body) as unknown, queries };
};
const put = (body: unknown, options = {}) => call({ body: JSON.stringify(body) }, options);

describe('sending', () => {
  it('is shown', async () => {
    const { statusCode, json, queries } = await call({ routeKey: GET });

    expect(statusCode).toBe(200);
    expect(json).toEqual({ paused: true, by: 'operator', who: WHO, reason: 'secret reason', since: '2026-03-02T09:00:00.000Z' });
    expect(queries).toEqual([]);
  });

  it('is paused in the name of the token’s subject', async () => {
    const { statusCode, json, queries } = await put({ paused: true, reason: 'secret reason' });

    expect(queries).toEqual([{ paused: true, who: WHO, reason: 'secret reason' }]);
    expect({ statusCode, json }).toMatchObject({ statusCode: 200, json: { paused: true, who: WHO } });
  });

  it('is resumed', async () => {
    expect((await put({ paused: false })).queries).toEqual([{ paused: false }]);
  });

  it('is left alone by a body that is not valid, each of whose faults is named', async () => {
    const { statusCode, json, queries } = await put({ paused: 'yes', reason: 7 });

    expect({ statusCode, queries }).toEqual({ statusCode: 422, queries: [] });
    expect(json).toMatchObject({
      type: 'urn:mail-dispatch:problem:invalid-request',
      errors: [
        { pointer: '/paused', rule: 'type' },
        { pointer: '/reason', rule: 'type' },
      ],
      total: 2,
    });
  });

  it.each<[number, RequestParts]>([
    [400, { body: '{' }],
    [400, {}],
    [415, { body: '{"paused":true}', headers: { 'content-type': 'text/plain' } }],
    [403, { body: '{"paused":true}', claims: {} }],
    [404, { routeKey: 'DELETE /sending' }],
  ])('is left alone by a request that is answered %i', async (statusCode, parts) => {
    expect(await call(parts)).toMatchObject({ statusCode, queries: [] });
  });
});

describe('an answer', () => {
  it.each([GET, PUT])('of %s asks to try again while the table does not answer', async (routeKey) => {
    const answer = await call({ routeKey, body: '{"paused":true}' }, { error: new Unavailable('the table', 1) });

    expect(answer).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
  });

  it('is 500 on a bug', async () => {
    expect((await put({ paused: true }, { error: new Error(WHO) })).statusCode).toBe(500);
    expect(output.text()).not.toContain(WHO);
  });

  it('leaves neither name nor reason in the log (S14)', async () => {
    await put({ paused: true, reason: 'secret reason' });

    expect(output.text()).toContain('sending operated');
    expect(output.text()).not.toMatch(/secret/);
  });

  it.each<[string[], unknown, { changed?: boolean }]>([
    [['SendingPausedByOperator'], { paused: true }, {}],
    [['SendingResumedByOperator'], { paused: false }, {}],
    [[], { paused: true }, { changed: false }],
    [['OperationRefused'], {}, {}],
  ])('counts as %j', async (names, body, options) => {
    await put(body, options);

    expect(output.metrics().map(({ name }) => name)).toEqual(names);
  });
});
