import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { AcceptDispatch, AcceptResult } from '../../../../lambda/application/accept-dispatch.ts';
import { type RecipientFault, Unavailable } from '../../../../lambda/application/accept-ports.ts';
import { createRequestParser } from '../../../../lambda/contracts/dispatch-request.ts';
import { AcceptedView } from '../../../../lambda/contracts/dispatch-view.ts';
import { Problem } from '../../../../lambda/contracts/problem.ts';
import { createHandler } from '../../../../lambda/handlers/accept-dispatch/handler.ts';
import { aNewDispatch, someAddressees } from '../../../support/accept-builders.ts';
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

const { dispatch } = aNewDispatch(someAddressees(1));
const body = JSON.stringify({
  scenarioId: 'interview',
  recruitId: 7,
  recipients: [{ applyId: 'a-1', email: 'kim@example.com' }],
});
const headers = { 'content-type': 'application/json', 'idempotency-key': '"key-1"' };

const post = async (result: AcceptResult | Error, parts: RequestParts = {}) => {
  const calls: Parameters<AcceptDispatch>[] = [];
  const handler = createHandler({
    acceptDispatch: (...args) => {
      calls.push(args);
      return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
    },
    parseRequest: createRequestParser((text) =>
      text.includes('@') ? { ok: true, address: text } : { ok: false, fault: 'email-address' },
    ),
    telemetry: output.telemetry,
  });
  const answer = await handler(httpEvent({ headers, body, ...parts }), aContext());
  return { ...answer, json: JSON.parse(answer.body) as unknown, calls };
};
const accepted = { outcome: 'accepted', dispatch } as const;
const problemType = (code: string) => `urn:mail-dispatch:problem:${code}`;

describe('a request', () => {
  it('is handed on for the token’s subject, under the key without its quotes', async () => {
    const { calls } = await post(accepted, { claims: { sub: 'admin-9', scope: 'mail:send' } });

    expect(calls).toEqual([
      [
        'admin-9',
        'key-1',
        {
          scenarioId: 'interview',
          recruitId: '7',
          recipients: [{ applyId: 'a-1', email: 'kim@example.com', variables: {} }],
          variables: {},
          isTest: false,
        },
      ],
    ]);
  });

  it('that is accepted is answered 202 with where to look', async () => {
    const { statusCode, headers: answered, json } = await post(accepted);

    expect(statusCode).toBe(202);
    expect(answered).toEqual({ 'content-type': 'application/json', location: '/dispatches/d1spatch' });
    expect(json).toEqual({
      id: 'd1spatch',
      status: 'ACCEPTED',
      total: 1,
      scenarioId: 'interview',
      recruitId: '7',
      adminId: 'admin-1',
      isTest: false,
      createdAt: '2026-03-02T09:00:00.000Z',
      links: { self: '/dispatches/d1spatch', recipients: '/dispatches/d1spatch/recipients' },
      estimate: null,
    });
    expect(AcceptedView.safeParse(json).success).toBe(true);
  });

  it('that is a replay is answered 200 and says so (A1)', async () => {
    const {
      statusCode,
      headers: answered,
      json,
    } = await post({ outcome: 'replayed', dispatch: { ...dispatch, status: 'IN_PROGRESS' } });

    expect(statusCode).toBe(200);
    expect(answered).toMatchObject({ 'idempotency-replayed': 'true', location: '/dispatches/d1spatch' });
    expect(json).toMatchObject({ id: 'd1spatch', status: 'IN_PROGRESS' });
  });

  it.each<[string, RequestParts, number, string]>([
    ['without a key', { headers: { 'content-type': 'application/json' } }, 400, 'idempotency-key-missing'],
    ['with a key that is not valid', { headers: { ...headers, 'idempotency-key': 'a b' } }, 400, 'idempotency-key-invalid'],
    ['with another type', { headers: { ...headers, 'content-type': 'text/csv' } }, 415, 'unsupported-media-type'],
    ['with invalid JSON', { body: '{' }, 400, 'invalid-json'],
    ['with a body that is too large', { body: 'x'.repeat(4_100_000) }, 413, 'body-too-large'],
    ['of nobody', { claims: { scope: 'mail:send' } }, 403, 'no-subject'],
  ])('%s is refused and goes no further', async (_name, parts, status, code) => {
    const { statusCode, headers: answered, json, calls } = await post(accepted, parts);

    expect({ statusCode, calls, contentType: answered['content-type'] }).toEqual({
      statusCode: status,
      calls: [],
      contentType: 'application/problem+json',
    });
    expect(json).toMatchObject({ type: problemType(code), status });
  });

  it('with faults is answered with all of them', async () => {
    const { statusCode, json } = await post(accepted, { body: JSON.stringify({ recipients: [{ applyId: 'a-1', email: 'x' }] }) });

    expect(statusCode).toBe(422);
    expect(json).toMatchObject({
      type: problemType('invalid-request'),
      total: 3,
      errors: [
        { pointer: '/scenarioId', rule: 'required' },
        { pointer: '/recruitId', rule: 'required' },
        { pointer: '/recipients/0/email', rule: 'email-address', applyId: 'a-1' },
      ],
    });
  });
});

describe('an outcome', () => {
  const fault = (rule: RecipientFault['rule'], name?: string): RecipientFault => ({
    index: 3,
    applyId: 'a-3',
    rule,
    ...(name !== undefined && { name }),
  });

  it.each<[string, AcceptResult, number, string, object]>([
    [
      'a conflict',
      { outcome: 'conflict', fields: ['subject', 'recipients[].email'] },
      409,
      'idempotency-key-conflict',
      { fields: ['subject', 'recipients[].email'] },
    ],
    [
      'an unknown scenario',
      { outcome: 'unknown-scenario' },
      422,
      'unknown-scenario',
      { errors: [{ pointer: '/scenarioId', rule: 'unknown-scenario' }] },
    ],
    [
      'a template that is not valid',
      {
        outcome: 'invalid-template',
        faults: [
          { part: 'html', rule: 'template-syntax', line: 3 },
          { part: 'unsubscribe', rule: 'unknown-helper', name: 'upper' },
        ],
      },
      422,
      'invalid-template',
      {
        errors: [
          { pointer: '/scenarioId', rule: 'template-syntax', detail: 'html is not a Handlebars template: line 3' },
          { pointer: '/unsubscribe/url', rule: 'unknown-helper', detail: 'unsubscribe uses a helper that does not exist' },
        ],
        total: 2,
      },
    ],
    [
      'missing variables',
      { outcome: 'cannot-render', faults: [fault('missing-variable', 'slot.at'), fault('subject-empty')], total: 40 },
      422,
      'missing-variables',
      {
        errors: [
          { pointer: '/recipients/3/variables/slot/at', rule: 'missing-variable', applyId: 'a-3' },
          { pointer: '/recipients/3', rule: 'subject-empty', applyId: 'a-3' },
        ],
        total: 40,
      },
    ],
    [
      'another rendering fault',
      { outcome: 'cannot-render', faults: [fault('rendering-failed')], total: 1 },
      422,
      'rendering-fault',
      { total: 1 },
    ],
    ['a costly template', { outcome: 'too-costly' }, 422, 'template-too-costly', {}],
    [
      'a content that is too large',
      { outcome: 'too-large', limit: 'content' },
      413,
      'dispatch-too-large',
      { detail: expect.stringContaining('358,400 bytes') as string },
    ],
    [
      'recipients that are too large',
      { outcome: 'too-large', limit: 'recipients' },
      413,
      'dispatch-too-large',
      { detail: expect.stringContaining('4,089,446 bytes') as string },
    ],
  ])('of %s is a problem of its own', async (_name, result, status, code, more) => {
    const { statusCode, json } = await post(result);

    expect(statusCode).toBe(status);
    expect(json).toMatchObject({ type: problemType(code), status, ...more });
    expect(Problem.safeParse(json).success).toBe(true);
  });

  it('that is missing because a service did not answer asks to try again', async () => {
    const { statusCode, headers: answered, json } = await post(new Unavailable('SES', 2));

    expect(statusCode).toBe(503);
    expect(answered).toMatchObject({ 'retry-after': '2', 'content-type': 'application/problem+json' });
    expect(json).toMatchObject({ type: problemType('unavailable') });
  });

  it('of a bug is 500', async () => {
    expect(await post(new TypeError('x'))).toMatchObject({ statusCode: 500, json: { type: problemType('internal') } });
  });
});

describe('what is written down', () => {
  it.each<[string, AcceptResult | Error, string]>([
    ['an accepted request', accepted, 'DispatchAccepted'],
    ['a replay', { outcome: 'replayed', dispatch }, 'DispatchReplayed'],
    ['a conflict', { outcome: 'conflict', fields: [] }, 'IdempotencyConflict'],
    ['a refusal', { outcome: 'too-costly' }, 'DispatchRefused'],
    ['an outage', new Unavailable('SES', 2), 'AcceptUnavailable'],
    ['a bug', new TypeError('x'), 'AcceptFailed'],
  ])('counts %s', async (_name, result, metric) => {
    await post(result);

    expect(output.metrics()).toEqual([{ name: metric, value: 1, dimensions: ['service'] }]);
  });

  it('never holds an address, a name or a variable (S14)', async () => {
    const secret = 'secret.kim@example.com';
    const asked = {
      scenarioId: 's',
      recruitId: 7,
      subject: secret,
      variables: { a: secret },
      recipients: [{ applyId: 'a', email: secret, variables: { name: secret } }],
    };
    const error = new Error(`Email address is not verified: ${secret}`, { cause: new Error(secret) });

    const answers = [
      await post(accepted, { body: JSON.stringify(asked) }),
      await post(error, { body: JSON.stringify(asked) }),
      await post(accepted, { body: JSON.stringify({ ...asked, subject: `${secret}\n`, isTest: secret }) }),
      await post(accepted, { body: `{"email": "${secret}"` }),
    ];

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([202, 500, 422, 400]);
    expect(answers.map((answer) => answer.body).join('')).not.toContain('secret.kim');
    expect(output.text()).not.toContain('secret.kim');
  });
});
