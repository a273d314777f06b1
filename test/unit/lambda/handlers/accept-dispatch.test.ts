import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { AcceptDispatch, AcceptResult } from '../../../../lambda/application/accept/accept-dispatch.ts';
import type { Preview, PreviewDispatch } from '../../../../lambda/application/accept/preview-dispatch.ts';
import type { RecipientFault } from '../../../../lambda/application/ports/accept.ts';
import { Unavailable } from '../../../../lambda/application/ports/errors.ts';
import { Problem } from '../../../../lambda/contracts/http/problem.ts';
import { createRequestParser } from '../../../../lambda/contracts/http/request/dispatch-request.ts';
import { AcceptedView } from '../../../../lambda/contracts/http/response/dispatch-view.ts';
import { PreviewView } from '../../../../lambda/contracts/http/response/preview-view.ts';
import { createHandler } from '../../../../lambda/handlers/accept-dispatch/handler.ts';
import { aNewDispatch, someRecipientInputs } from '../../../support/accept-builders.ts';
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

const { dispatch } = aNewDispatch(someRecipientInputs(1));
const body = JSON.stringify({
  scenarioId: 'interview',
  recruitId: 7,
  recipients: [{ applyId: 'a-1', email: 'kim@example.com' }],
});
const headers = { 'content-type': 'application/json', 'idempotency-key': '"key-1"' };

const NOTHING: Preview = { refusals: [], sharedAddresses: [], samples: { mails: [], cutShort: false } };

const post = async (result: AcceptResult | Error, parts: RequestParts = {}, previewed: Preview = NOTHING) => {
  const calls: Parameters<AcceptDispatch>[] = [];
  const previews: Parameters<PreviewDispatch>[] = [];
  const handler = createHandler({
    acceptDispatch: (...args) => {
      calls.push(args);
      return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
    },
    previewDispatch: (...args) => {
      previews.push(args);
      return Promise.resolve(previewed);
    },
    parseRequest: createRequestParser((text) =>
      text.includes('@') ? { ok: true, address: text } : { ok: false, fault: 'email-address' },
    ),
    telemetry: output.telemetry,
  });
  const answer = await handler(httpEvent({ headers, body, ...parts }), aContext());
  return { ...answer, json: JSON.parse(answer.body) as unknown, calls, previews };
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
          allowRepeat: false,
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

  it('that is accepted is answered with the estimate, the rate in hundredths', async () => {
    const estimate = { mailsPerSecond: 12.600000000000001, doneAt: T0 + 90_000, waitingForNextWindow: 2 };

    const { json } = await post({ ...accepted, estimate });

    expect(json).toMatchObject({
      estimate: { mailsPerSecond: 12.6, doneAt: '2026-03-02T09:01:30.000Z', waitingForNextWindow: 2 },
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
    ['a repetition', { outcome: 'possible-duplicate' }, 409, 'possible-duplicate', {}],
    [
      'a repetition of one’s own',
      { outcome: 'possible-duplicate', dispatchId: 'earlier' },
      409,
      'possible-duplicate',
      { dispatchId: 'earlier' },
    ],
    [
      'recipients whom the stage may not mail',
      { outcome: 'recipients-not-allowed', recipients: [{ index: 3, applyId: 'a-3' }], total: 120 },
      422,
      'invalid-request',
      { total: 120, errors: [{ pointer: '/recipients/3/email', rule: 'recipient-not-allowed', applyId: 'a-3' }] },
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
    [
      'another template than the one that was seen (V12)',
      { outcome: 'template-changed', current: 'v-2' },
      409,
      'template-changed',
      { templateVersion: 'v-2' },
    ],
    [
      'a template too large to be copied',
      { outcome: 'template-too-large' },
      422,
      'invalid-template',
      { errors: [{ pointer: '/scenarioId', rule: 'template-too-large' }] },
    ],
    ['a costly template', { outcome: 'too-costly' }, 422, 'template-too-costly', {}],
    [
      'a content that is too large',
      { outcome: 'too-large', limit: 'content' },
      413,
      'dispatch-too-large',
      { detail: expect.stringContaining('358,400 bytes') as string },
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

describe('a preview', () => {
  const previewOf = (previewed?: Preview, parts: RequestParts = {}) =>
    post(
      new Error('accept was asked'),
      { routeKey: 'POST /dispatches/preview', headers: { 'content-type': 'application/json' }, ...parts },
      previewed,
    );
  const rows = (...emails: string[]) =>
    JSON.stringify({
      scenarioId: 'interview',
      recruitId: 7,
      recipients: emails.map((email, i) => ({ applyId: `a-${i}`, email })),
    });

  it('needs no key, and shows the mails with the admin’s own data', async () => {
    const mails = [{ applyId: 'a-1', to: 'kim@example.com', subject: 'Hello', html: '<p>Kim</p>', text: 'Kim' }];
    const estimate = { mailsPerSecond: 9, doneAt: T0, waitingForNextWindow: 0 };

    const { statusCode, json, previews } = await previewOf({
      ...NOTHING,
      samples: { mails, cutShort: true },
      templateVersion: 'v-1',
      estimate,
    });

    expect(statusCode).toBe(200);
    expect(json).toEqual({
      faults: [],
      faultsTotal: 0,
      warnings: [],
      warningsTotal: 0,
      mails,
      mailsCutShort: true,
      templateVersion: 'v-1',
      estimate: { mailsPerSecond: 9, doneAt: '2026-03-02T09:00:00.000Z', waitingForNextWindow: 0 },
    });
    expect(PreviewView.safeParse(json).success).toBe(true);
    expect(previews[0]?.[0]).toBe('admin-1');
  });

  it('has the faults of form and those of the mails, at their places in the body', async () => {
    const faults = [{ index: 1, applyId: 'a-2', rule: 'missing-variable', name: 'name' }] as const;

    const { json, previews } = await previewOf(
      { ...NOTHING, refusals: [{ outcome: 'cannot-render', faults, total: 30 }] },
      { body: rows('kim@example.com', 'lee', 'park@example.com') },
    );

    expect(previews[0]?.[1].recipients.map(({ applyId }) => applyId)).toEqual(['a-0', 'a-2']);
    expect(json).toMatchObject({
      faults: [
        { pointer: '/recipients/1/email', rule: 'email-address', applyId: 'a-1' },
        { pointer: '/recipients/2/variables/name', rule: 'missing-variable', applyId: 'a-2' },
      ],
      faultsTotal: 31,
    });
  });

  it.each<[string, Preview['refusals'][number], object]>([
    [
      'a recipient whom the stage may not mail',
      { outcome: 'recipients-not-allowed', recipients: [{ index: 0, applyId: 'a-0' }], total: 1 },
      { pointer: '/recipients/0/email', rule: 'recipient-not-allowed', applyId: 'a-0' },
    ],
    ['an unknown scenario', { outcome: 'unknown-scenario' }, { pointer: '/scenarioId', rule: 'unknown-scenario' }],
    [
      'a template that is not valid',
      { outcome: 'invalid-template', faults: [{ part: 'html', rule: 'template-syntax', line: 3 }] },
      { pointer: '/scenarioId', rule: 'template-syntax' },
    ],
    [
      'another template than the one that was seen',
      { outcome: 'template-changed', current: 'v-2' },
      { pointer: '/templateVersion', rule: 'template-changed' },
    ],
    [
      'a template too large to be copied',
      { outcome: 'template-too-large' },
      { pointer: '/scenarioId', rule: 'template-too-large' },
    ],
    ['a costly template', { outcome: 'too-costly' }, { pointer: '/scenarioId', rule: 'template-too-costly' }],
    ['too much', { outcome: 'too-large', limit: 'content' }, { pointer: '', rule: 'dispatch-too-large' }],
  ])('of %s is an answer, not an error', async (_name, refusal, fault) => {
    const { statusCode, json } = await previewOf({ ...NOTHING, refusals: [refusal] });

    expect(statusCode).toBe(200);
    expect(json).toMatchObject({ faults: [fault], faultsTotal: 1 });
    expect(PreviewView.safeParse(json).success).toBe(true);
  });

  it('of a request whose fields are at fault has these alone', async () => {
    const { statusCode, json, previews } = await previewOf(undefined, { body: '{"recipients": []}' });

    expect(statusCode).toBe(200);
    expect(json).toMatchObject({ faultsTotal: 3, mails: [], templateVersion: null, estimate: null });
    expect(previews).toEqual([]);
  });

  it('lists the first 100 faults and counts the others', async () => {
    const { json } = await previewOf(undefined, { body: rows(...Array.from({ length: 250 }, () => 'kim')) });

    const view = PreviewView.parse(json);
    expect([view.faults.length, view.faultsTotal]).toEqual([100, 250]);
  });

  it('warns of an address that two have, without the address', async () => {
    const { json } = await previewOf({ ...NOTHING, sharedAddresses: [{ index: 4, applyId: 'a-4', earlier: 'a-1' }] });

    expect(json).toMatchObject({
      faultsTotal: 0,
      warnings: [{ pointer: '/recipients/4/email', rule: 'shared-address', detail: 'is the address of a-1 too', applyId: 'a-4' }],
      warningsTotal: 1,
    });
  });

  it.each<[string, RequestParts, number]>([
    ['no JSON', { body: '{' }, 400],
    ['another type', { headers: { 'content-type': 'text/csv' } }, 415],
    ['nobody', { claims: { scope: 'mail:send' } }, 403],
  ])('of %s is refused as the request would be', async (_name, parts, status) => {
    expect(await previewOf(undefined, parts)).toMatchObject({ statusCode: status, previews: [] });
  });

  it('is counted, and leaves no address in the log (S14)', async () => {
    const mails = [{ applyId: 'a-1', to: 'secret.kim@example.com', subject: 'secret', text: 'secret' }];

    await previewOf({ ...NOTHING, samples: { mails, cutShort: false } }, { body: rows('secret.kim@example.com', 'secret') });

    expect(output.metrics()).toEqual([{ name: 'DispatchPreviewed', value: 1, dimensions: ['service', 'Stage'] }]);
    expect(output.text()).not.toContain('secret');
  });
});

describe('what is written down', () => {
  it.each<[string, AcceptResult | Error, string]>([
    ['an accepted request', accepted, 'DispatchAccepted'],
    ['a replay', { outcome: 'replayed', dispatch }, 'DispatchReplayed'],
    ['a conflict', { outcome: 'conflict', fields: [] }, 'IdempotencyConflict'],
    ['a repetition', { outcome: 'possible-duplicate' }, 'PossibleDuplicate'],
    ['a refusal', { outcome: 'too-costly' }, 'DispatchRefused'],
    ['an outage', new Unavailable('SES', 2), 'AcceptUnavailable'],
    ['a bug', new TypeError('x'), 'AcceptFailed'],
  ])('counts %s', async (_name, result, metric) => {
    await post(result);

    expect(output.metrics()).toEqual([{ name: metric, value: 1, dimensions: ['service', 'Stage'] }]);
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
