import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Unavailable } from '../../../../lambda/application/accept-ports.ts';
import type { ReadDispatch } from '../../../../lambda/application/read-dispatch.ts';
import { DispatchNowView, RecipientsView } from '../../../../lambda/contracts/dispatch-view.ts';
import { toCursor } from '../../../../lambda/contracts/recipients-query.ts';
import { NO_COUNTS } from '../../../../lambda/domain/dispatch.ts';
import { createHandler } from '../../../../lambda/handlers/read-dispatches/handler.ts';
import { aNewDispatch, someAddressees } from '../../../support/accept-builders.ts';
import { aRecipient, sent } from '../../../support/builders.ts';
import { type Captured, captureOutput } from '../../../support/captured-output.ts';
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

const ID = 'abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst';
const DISPATCH = 'GET /dispatches/{dispatchId}';
const RECIPIENTS = 'GET /dispatches/{dispatchId}/recipients';
const dispatch = { ...aNewDispatch(someAddressees(3)).dispatch, dispatchId: ID };

const get = async (parts: RequestParts, ports: Partial<ReadDispatch> = {}) => {
  const calls: unknown[][] = [];
  const handler = createHandler({
    readDispatch: {
      dispatch: (...args) => {
        calls.push(args);
        return Promise.resolve(args[0].adminId === 'admin-1' ? { dispatch, counts: { ...NO_COUNTS, SENT: 3 } } : undefined);
      },
      recipients: (...args) => {
        calls.push(args);
        return Promise.resolve(
          args[0].adminId === 'admin-1' ? { recipients: [aRecipient(sent())], next: { shard: 0, after: 'a-1' } } : undefined,
        );
      },
      ...ports,
    },
    telemetry: output.telemetry,
  });
  const answer = await handler(httpEvent({ routeKey: DISPATCH, pathParameters: { dispatchId: ID }, ...parts }), aContext());
  return { ...answer, json: JSON.parse(answer.body) as unknown, calls };
};

describe('a dispatch', () => {
  it('is answered with its counts', async () => {
    const { statusCode, json, calls } = await get({});

    expect(statusCode).toBe(200);
    expect(json).toMatchObject({ id: ID, status: 'ACCEPTED', total: 3, counts: { ...NO_COUNTS, SENT: 3 } });
    expect(DispatchNowView.safeParse(json).success).toBe(true);
    expect(calls).toEqual([[{ adminId: 'admin-1', isOperator: false }, ID]]);
  });

  it('is asked for as an operator by the scope', async () => {
    const { calls } = await get({ claims: { sub: 'op', scope: 'mail:read mail:operate' } });

    expect(calls).toEqual([[{ adminId: 'op', isOperator: true }, ID]]);
  });

  it('of another admin is answered byte for byte like one that does not exist (A5)', async () => {
    const another = await get({ claims: { sub: 'admin-2' } });
    const unknown = await get({ claims: { sub: 'admin-1' } }, { dispatch: () => Promise.resolve(undefined) });
    const malformed = await get({ pathParameters: { dispatchId: 'x' } });
    const itsRecipients = await get({ routeKey: RECIPIENTS, claims: { sub: 'admin-2' } });

    const bytes = ({ statusCode, headers, body }: typeof another) => ({ statusCode, headers, body });
    expect(bytes(another)).toEqual({
      statusCode: 404,
      headers: { 'content-type': 'application/problem+json' },
      body: '{"type":"urn:mail-dispatch:problem:not-found","status":404,"title":"There is no such dispatch"}',
    });
    for (const answer of [unknown, malformed, itsRecipients]) expect(bytes(answer)).toEqual(bytes(another));
  });
});

describe('recipients', () => {
  it('are answered with a cursor to go on', async () => {
    const { statusCode, json } = await get({ routeKey: RECIPIENTS });

    expect(statusCode).toBe(200);
    expect(json).toMatchObject({
      recipients: [{ applyId: 'a-1', email: 'kim@example.com', status: 'SENT', messageId: 'ses-1' }],
      next: toCursor({ shard: 0, after: 'a-1' }),
    });
    expect(RecipientsView.safeParse(json).success).toBe(true);
  });

  it('are asked for by status, cursor and limit', async () => {
    const { calls } = await get({
      routeKey: RECIPIENTS,
      query: { status: 'FAILED', limit: '5', cursor: toCursor({ shard: 2 }) },
    });

    expect(calls[0]?.[2]).toEqual({ status: 'FAILED', limit: 5, from: { shard: 2 } });
  });

  it('end where there is no next', async () => {
    const { json } = await get({ routeKey: RECIPIENTS }, { recipients: () => Promise.resolve({ recipients: [] }) });

    expect(json).toEqual({ recipients: [], next: null });
  });

  it('are not looked for by a query that is not valid', async () => {
    const { statusCode, json, calls } = await get({ routeKey: RECIPIENTS, query: { status: 'LOST', limit: '0' } });

    expect({ statusCode, calls }).toEqual({ statusCode: 400, calls: [] });
    expect(json).toMatchObject({ type: 'urn:mail-dispatch:problem:invalid-query', detail: 'Not valid: status, limit' });
  });
});

describe('an answer', () => {
  it('is 404 on a route that this function does not serve', async () => {
    expect((await get({ routeKey: 'GET /dispatches' })).statusCode).toBe(404);
  });

  it('is 403 for nobody', async () => {
    expect((await get({ claims: {} })).statusCode).toBe(403);
  });

  it('asks to try again while the table does not answer', async () => {
    const answer = await get({}, { dispatch: () => Promise.reject(new Unavailable('the table', 1)) });

    expect(answer).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
  });

  it('is 500 on a bug, whose message is shown nowhere (S14)', async () => {
    const answer = await get({}, { dispatch: () => Promise.reject(new Error('about kim@example.com')) });

    expect(answer.statusCode).toBe(500);
    expect(answer.body + output.text()).not.toContain('kim@example.com');
    expect(output.text()).toContain('reading failed');
  });

  it.each<[string, RequestParts, string]>([
    ['ReadAnswered', {}, 'answered'],
    ['ReadRefused', { pathParameters: { dispatchId: 'x' } }, 'refused'],
  ])('counts as %s', async (metric, parts) => {
    await get(parts);

    expect(output.metrics()).toEqual([{ name: metric, value: 1, dimensions: ['service'] }]);
  });
});
