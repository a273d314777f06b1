import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Unavailable } from '../../../../lambda/application/ports/errors.ts';
import type { ListDispatches } from '../../../../lambda/application/queries/list-dispatches.ts';
import type { ReadDispatch } from '../../../../lambda/application/queries/read-dispatch.ts';
import type { ReadExport } from '../../../../lambda/application/queries/read-export.ts';
import { encodeCursor } from '../../../../lambda/contracts/http/cursor.ts';
import { DispatchesView } from '../../../../lambda/contracts/http/request/dispatches-query.ts';
import { toCursor } from '../../../../lambda/contracts/http/request/recipients-query.ts';
import { DispatchNowView, RecipientsView } from '../../../../lambda/contracts/http/response/dispatch-view.ts';
import { ExportView } from '../../../../lambda/contracts/http/response/export-view.ts';
import { createHandler } from '../../../../lambda/handlers/read-dispatches/handler.ts';
import { aNewDispatch, someRecipientInputs } from '../../../support/accept-builders.ts';
import { aRecipient, rowCounts, sent } from '../../../support/builders.ts';
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

const ID = 'abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst';
const DISPATCH = 'GET /dispatches/{dispatchId}';
const RECIPIENTS = 'GET /dispatches/{dispatchId}/recipients';
const dispatch = { ...aNewDispatch(someRecipientInputs(3)).dispatch, dispatchId: ID };

const get = async (
  parts: RequestParts,
  ports: Partial<ReadDispatch> = {},
  {
    list,
    readExport,
    scopePrefix = '',
  }: { scopePrefix?: string; list?: Awaited<ReturnType<ListDispatches>>; readExport?: Awaited<ReturnType<ReadExport>> } = {},
) => {
  const calls: unknown[][] = [];
  const handler = createHandler({
    scopePrefix,
    readDispatch: {
      dispatch: (...args) => {
        calls.push(args);
        return Promise.resolve(
          args[0].adminId === 'admin-1' ? { dispatch, ...rowCounts({ SENT: 3 }, { delivered: 2 }) } : undefined,
        );
      },
      recipients: (...args) => {
        calls.push(args);
        return Promise.resolve(
          args[0].adminId === 'admin-1' ? { recipients: [aRecipient(sent())], next: { shard: 0, after: 'a-1' } } : undefined,
        );
      },
      recipient: (...args) => {
        calls.push(args);
        return Promise.resolve(args[2].includes('a-1') ? aRecipient(sent()) : 'no-recipient');
      },
      ...ports,
    },
    listDispatches: (...args) => {
      calls.push(args);
      return Promise.resolve(list ?? { dispatches: [] });
    },
    readExport: (...args) => {
      calls.push(args);
      return Promise.resolve(readExport ?? 'not-found');
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
    expect(json).toMatchObject({ id: ID, status: 'ACCEPTED', total: 3, ...rowCounts({ SENT: 3 }, { delivered: 2 }) });
    expect(DispatchNowView.safeParse(json).success).toBe(true);
    expect(calls).toEqual([[{ adminId: 'admin-1', isOperator: false }, ID]]);
  });

  it('is asked for as an operator by the scope', async () => {
    const { calls } = await get({ claims: { sub: 'op', scope: 'mail:read mail:operate' } });

    expect(calls).toEqual([[{ adminId: 'op', isOperator: true }, ID]]);
  });

  it('is asked for as an operator by the scope with the prefix of the issuer, and by no other', async () => {
    const scopePrefix = 'mail-dispatch/';
    const prefixed = await get({ claims: { sub: 'op', scope: 'mail-dispatch/mail:operate' } }, {}, { scopePrefix });
    const bare = await get({ claims: { sub: 'op', scope: 'mail:operate' } }, {}, { scopePrefix });

    expect(prefixed.calls).toEqual([[{ adminId: 'op', isOperator: true }, ID]]);
    expect(bare.calls).toEqual([[{ adminId: 'op', isOperator: false }, ID]]);
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

describe('a list of dispatches', () => {
  const LIST = 'GET /dispatches';
  const place = { part: 'admin', after: `2026-03-02T09:00:00.000Z#${ID}` } as const;

  it('is one’s own without tests, unless more is asked for', async () => {
    const { calls } = await get({ routeKey: LIST });

    expect(calls).toEqual([
      [
        { adminId: 'admin-1', isOperator: false },
        { limit: 20, isTest: false, open: false },
      ],
    ]);
  });

  it('is asked for by its parameters', async () => {
    const query = { recruitId: '7', status: 'STOPPED', test: 'true', admin: 'admin-2', limit: '5', cursor: encodeCursor(place) };
    const { calls } = await get({ routeKey: LIST, query });

    expect(calls[0]?.[1]).toEqual({
      recruitId: '7',
      status: 'STOPPED',
      isTest: true,
      admin: 'admin-2',
      limit: 5,
      from: place,
      open: false,
    });
  });

  it('is answered with what is known of each, and a cursor to go on', async () => {
    const page = { dispatches: [{ ...dispatch, ...rowCounts({ SENT: 3 }, { delivered: 2 }) }, dispatch], next: place };
    const { statusCode, json } = await get({ routeKey: LIST }, {}, { list: page });

    expect(statusCode).toBe(200);
    expect(json).toMatchObject({
      dispatches: [{ id: ID, counts: { SENT: 3 }, deliveries: { delivered: 2 } }, { id: ID }],
      next: encodeCursor(place),
    });
    expect(DispatchesView.safeParse(json).success).toBe(true);
  });

  it.each<[string[], Record<string, string>]>([
    [['status', 'limit'], { status: 'LOST', limit: '101' }],
    [['admin'], { admin: 'admin-2', open: 'true' }],
    [['cursor'], { cursor: encodeCursor(place), open: 'true' }],
    [['cursor'], { cursor: encodeCursor({ part: 'admin', after: 'x' }) }],
    [['open'], { open: 'false' }],
  ])('is not looked for when these are not valid: %j', async (names, query) => {
    const { statusCode, json, calls } = await get({ routeKey: LIST, query });

    expect({ statusCode, calls }).toEqual({ statusCode: 400, calls: [] });
    expect(json).toMatchObject({ detail: `Not valid: ${names.join(', ')}` });
  });

  it('of others is for operators only (A7)', async () => {
    expect(await get({ routeKey: LIST, query: { open: 'true' } }, {}, { list: 'operators-only' })).toMatchObject({
      statusCode: 403,
      json: { type: 'urn:mail-dispatch:problem:operators-only' },
    });
  });
});

describe('a recipient', () => {
  const RECIPIENT = 'GET /dispatches/{dispatchId}/recipients/{applyId}';
  const of = (applyId: string) => ({ routeKey: RECIPIENT, pathParameters: { dispatchId: ID, applyId } });

  it('is answered with its attempts and events', async () => {
    expect(await get(of('a-1'))).toMatchObject({
      statusCode: 200,
      json: { applyId: 'a-1', status: 'SENT', attempts: [], events: [] },
    });
  });

  it('is looked for by any text, as it came and decoded', async () => {
    expect(await get(of('지원자 1/2%')).then(({ calls }) => calls[0]?.[2])).toEqual(['지원자 1/2%']);
    expect(await get(of('%EC%A7%80%20')).then(({ calls }) => calls[0]?.[2])).toEqual(['%EC%A7%80%20', '지 ']);
  });

  it('that is not there is another 404 than a dispatch that is not', async () => {
    expect((await get(of('b'))).json).toMatchObject({ type: 'urn:mail-dispatch:problem:no-such-recipient', status: 404 });
    expect((await get(of('b'), { recipient: () => Promise.resolve(undefined) })).json).toMatchObject({
      type: 'urn:mail-dispatch:problem:not-found',
    });
  });
});

describe('an export', () => {
  const of = (n: string) => ({
    routeKey: 'GET /dispatches/{dispatchId}/exports/{export}',
    pathParameters: { dispatchId: ID, export: n },
  });
  const done = {
    state: 'done',
    requestedAt: T0,
    written: 9,
    doneAt: T0,
    url: 'https://files.example.org/x',
    until: T0 + 300_000,
  } as const;

  it('is answered with the address of its file, which nobody may keep', async () => {
    const { statusCode, headers, json, calls } = await get(of('3'), {}, { readExport: done });

    expect({ statusCode, cache: headers['cache-control'] }).toEqual({ statusCode: 200, cache: 'no-store' });
    expect(json).toMatchObject({
      export: 3,
      state: 'done',
      recipients: 9,
      url: done.url,
      urlExpiresAt: '2026-03-02T09:05:00.000Z',
    });
    expect(ExportView.safeParse(json).success).toBe(true);
    expect(calls[0]?.[1]).toEqual({ dispatchId: ID, task: 3 });
  });

  it('that is not there is 404, by any name', async () => {
    const one = await get(of('x'), {}, { readExport: 'no-export' });

    expect(one.json).toMatchObject({ type: 'urn:mail-dispatch:problem:no-such-export' });
    expect(one.calls[0]?.[1]).toEqual({ dispatchId: ID, task: 0 });
    expect((await get(of('3'))).json).toMatchObject({ type: 'urn:mail-dispatch:problem:not-found' });
  });
});

describe('an answer', () => {
  it('is 404 on a route that this function does not serve', async () => {
    expect((await get({ routeKey: 'GET /templates' })).statusCode).toBe(404);
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

    expect(output.metrics()).toEqual([{ name: metric, value: 1, dimensions: ['service', 'Stage'] }]);
  });
});
