import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';

import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

import { PreviewView } from '../../lambda/contracts/http/response/preview-view.ts';
import { poll, type TestStack } from '../support/stack.ts';
import { PATIENT_TIMES } from '../support/stack-settings.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack('http-requests', PATIENT_TIMES);

const Problem = z.looseObject({ type: z.string(), status: z.number(), title: z.string() });
const problem = async (response: Response) => {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  return Problem.parse(await response.json());
};

describe('the same request twice', () => {
  it('names one dispatch, and the second answer says so (A1)', async () => {
    const body = stack.bodyOf(2);
    const id = await stack.accepted('twice', body);

    const second = await stack.post('twice', body);

    expect(second.status).toBe(200);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(await second.json()).toMatchObject({ id });
  });

  it('at once, twenty times, is one 202 and nineteen replays of one id (A2)', async () => {
    const body = stack.bodyOf(120);

    const responses = await Promise.all(Array.from({ length: 20 }, () => stack.post('at-once', body)));

    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array.from({ length: 19 }, () => 200), 202]);
    const ids = await Promise.all(
      responses.map(async (response) => z.looseObject({ id: z.string() }).parse(await response.json()).id),
    );
    expect(new Set(ids).size).toBe(1);
  });

  it('with its keys and recipients in another order is a replay (A4)', async () => {
    const body = stack.bodyOf(3);
    await stack.accepted('reordered', body);
    const { recipients, ...rest } = body;

    const second = await stack.post('reordered', { subject: '', isTest: false, recipients: [...recipients].reverse(), ...rest });

    expect(second.status).toBe(200);
  });

  it.each([
    ['scenarioId', { scenarioId: 'document-passed' }],
    ['recruitId', { recruitId: 'another' }],
    ['subject', { subject: 'Another' }],
    ['isTest', { isTest: true }],
    ['unsubscribe', { unsubscribe: { url: 'https://example.com/u' } }],
  ])('but for its %s is a conflict that names it (A3)', async (field, change) => {
    const key = `conflict-${field}`;
    const body = stack.bodyOf(2);
    await stack.accepted(key, body);

    const second = await stack.post(key, { ...body, ...change });

    expect(second.status).toBe(409);
    expect(await problem(second)).toMatchObject({ fields: [field] });
  });

  it.each([
    ['recipients[].applyId', (r: Recipients) => [...r, { ...r[0], applyId: 'one-more', email: 'more@example.com' }]],
    ['recipients[].applyId', (r: Recipients) => r.slice(1)],
    ['recipients[].email', (r: Recipients) => r.map((each, i) => (i === 0 ? { ...each, email: 'other@example.com' } : each))],
    ['recipients[].variables', (r: Recipients) => r.map((each) => ({ ...each, variables: { ...each.variables, more: 1 } }))],
  ])('but for %s is a conflict that names it (A3)', async (field, change) => {
    const key = `conflict-${change.toString().length}`;
    const body = stack.bodyOf(2);
    await stack.accepted(key, body);

    const second = await stack.post(key, { ...body, recipients: change(body.recipients) });

    expect(second.status).toBe(409);
    expect(await problem(second)).toMatchObject({ fields: [field] });
  });

  it.each([
    ['of other content', { recruitId: 'other', allowRepeat: false }],
    ['with leave to repeat', { allowRepeat: true }],
  ])('from two admins, the second %s, is two dispatches (A5)', async (name, change) => {
    const key = `shared-key-${name.length}`;
    const mine = await stack.accepted(key, stack.bodyOf(1));

    const theirs = await stack.post(key, { ...stack.bodyOf(1), ...change }, 'secondAdmin');

    expect(theirs.status).toBe(202);
    expect(await theirs.json()).not.toMatchObject({ id: mine });
  });
});

type Recipients = ReturnType<TestStack['bodyOf']>['recipients'];

describe('the same content under another key', () => {
  const Answer = z.looseObject({ id: z.string().optional(), dispatchId: z.string().optional() });
  const once = (recruitId: string) => ({ ...stack.bodyOf(3), recruitId, allowRepeat: false });

  it('at once, twenty times, is one 202 and nineteen possible duplicates that name it', async () => {
    const body = once('clicked');

    const responses = await Promise.all(Array.from({ length: 20 }, (_, i) => stack.post(`clicked-${i}`, body)));

    expect(responses.map(({ status }) => status).sort()).toEqual([202, ...Array.from({ length: 19 }, () => 409)]);
    const answers = await Promise.all(responses.map(async (response) => Answer.parse(await response.json())));
    const ids = answers.map(({ id, dispatchId }) => id ?? dispatchId);
    expect(new Set(ids)).toEqual(new Set([answers.find(({ id }) => id !== undefined)?.id]));
  });

  it('from another admin is a possible duplicate of which no more is told', async () => {
    const id = await stack.accepted('published', once('published'));

    const response = await stack.post('published', once('published'), 'secondAdmin');

    expect(response.status).toBe(409);
    const text = JSON.stringify(await problem(response));
    expect(text).toContain('possible-duplicate');
    expect(text).not.toContain(id);
  });
});

describe('an estimate', () => {
  const Estimated = z.looseObject({
    estimate: z.object({ mailsPerSecond: z.number(), doneAt: z.iso.datetime(), waitingForNextWindow: z.number() }).nullable(),
  });
  const estimateOf = async (key: string, body: unknown) => Estimated.parse(await (await stack.post(key, body)).json()).estimate;

  it('comes with a 202, by the account’s rate and quota', async () => {
    await stack.sending({ paused: false });
    // The sweeper reads the account at its first pass, and nobody promises that an answer comes in time.
    const estimate = await poll(
      () => estimateOf(`estimate-${randomUUID()}`, stack.bodyOf(2)),
      (found) => found !== null,
    );

    expect(estimate).toMatchObject({ mailsPerSecond: 900, waitingForNextWindow: 0 });
    expect(Date.parse(estimate?.doneAt ?? '')).toBeGreaterThan(Date.now() - 60_000);
  });

  it('is null while sending is paused', async () => {
    await stack.sending({ paused: true });

    expect(await estimateOf('while-paused', stack.bodyOf(1))).toBeNull();

    await stack.sending({ paused: false });
  });
});

describe('a preview', () => {
  const preview = (body: unknown) =>
    stack.request('POST', '/dispatches/preview', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it('shows the first three mails as they would be sent, and stores nothing', async () => {
    const body = { ...stack.bodyOf(5), recruitId: 'previewed', allowRepeat: false };

    const response = await preview(body);

    expect(response.status).toBe(200);
    const view = PreviewView.parse(await response.json());
    expect(view).toMatchObject({ faults: [], faultsTotal: 0, warningsTotal: 0 });
    expect(view.mails.map(({ applyId, to }) => [applyId, to])).toEqual(
      [0, 1, 2].map((i) => [`apply-${i}`, `person-${i}@example.com`]),
    );
    const id = await stack.accepted('previewed', body);
    await stack.finished(id);
    expect(stack.mails(id).size).toBe(5);
  });

  it('has every fault of every row, a warning, and the mails that can be rendered (S11, U15)', async () => {
    const [a, b, c, d] = stack.bodyOf(4).recipients;
    const recipients = [{ ...a, email: 'two@@example.com' }, { ...b, variables: {} }, c, { ...d, email: c?.email.toUpperCase() }];

    const response = await preview({ ...stack.bodyOf(0), recipients });

    expect(response.status).toBe(200);
    const view = PreviewView.parse(await response.json());
    expect(view.faults[0]).toMatchObject({ pointer: '/recipients/0/email', rule: 'email-address', applyId: 'apply-0' });
    expect(view.faults.slice(1).every(({ applyId, rule }) => applyId === 'apply-1' && rule === 'missing-variable')).toBe(true);
    expect(view.faultsTotal).toBe(2);
    expect(view.mails.map(({ applyId }) => applyId)).toEqual(['apply-2', 'apply-3']);
  });

  it('needs the scope of sending (A7)', async () => {
    expect((await stack.request('POST', '/dispatches/preview', { token: '' })).status).toBe(401);
  });
});

describe('a template that changed after it was previewed', () => {
  const scenarioId = 'changing';
  const Versioned = z.looseObject({ templateVersion: z.string() });
  const store = async (method: 'POST' | 'PUT', Subject: string): Promise<void> => {
    const response = await fetch(`${stack.description.ses}/v2/email/templates${method === 'PUT' ? `/${scenarioId}` : ''}`, {
      method,
      body: JSON.stringify({ TemplateName: scenarioId, TemplateContent: { Subject, Text: 'Dear {{applicantName}}' } }),
    });
    expect(response.status).toBe(200);
  };
  const preview = async (body: unknown): Promise<PreviewView> => {
    const options = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return PreviewView.parse(await (await stack.request('POST', '/dispatches/preview', options)).json());
  };

  it('is refused if the request names the version that was seen, and sent if it names the new one (V12)', async () => {
    await store('POST', 'Before');
    const body = { ...stack.bodyOf(2), scenarioId };
    const { templateVersion: seen } = await preview(body);
    expect(seen).not.toBeNull();
    await store('PUT', 'After');
    const current = await poll(
      () => preview(body),
      ({ templateVersion }) => templateVersion !== seen,
    );
    expect(current.mails.map(({ subject }) => subject)).toEqual(['After', 'After']);

    const refused = await stack.post('changed', { ...body, templateVersion: seen });
    expect(refused.status).toBe(409);
    expect(await problem(refused)).toMatchObject({
      type: 'urn:mail-dispatch:problem:template-changed',
      templateVersion: current.templateVersion,
    });

    // The key is free, as nothing was stored.
    const accepted = await stack.post('changed', { ...body, templateVersion: current.templateVersion });
    expect(accepted.status).toBe(202);
    const { id } = z.looseObject({ id: z.string() }).parse(await accepted.json());
    const shown = Versioned.parse(await (await stack.request('GET', `/dispatches/${id}`)).json());
    expect(shown.templateVersion).toBe(current.templateVersion);
    // A known key is a replay whatever version comes with it.
    expect((await stack.post('changed', { ...body, templateVersion: seen })).status).toBe(200);
  });
});

describe('a dispatch of another admin', () => {
  it('is answered to the byte like one that does not exist (A5)', async () => {
    const id = await stack.accepted('hidden', stack.bodyOf(1));
    const token = stack.description.tokens.secondAdmin;
    const unknown = id.replace(/./g, 'a');

    for (const path of ['', '/recipients']) {
      const theirs = await stack.request('GET', `/dispatches/${id}${path}`, { token });
      const nobodys = await stack.request('GET', `/dispatches/${unknown}${path}`, { token });
      expect(theirs.status).toBe(404);
      expect((await theirs.text()).replaceAll(id, unknown)).toBe(await nobodys.text());
    }
  });

  it('is shown to an operator', async () => {
    const id = await stack.accepted('shown', stack.bodyOf(1));

    const response = await stack.request('GET', `/dispatches/${id}`, { token: stack.description.tokens.operator });

    expect(response.status).toBe(200);
  });
});

describe('a body (A6)', () => {
  const padded = (megabytes: number) => {
    const body = JSON.stringify(stack.bodyOf(3));
    return body + ' '.repeat(Math.floor(megabytes * 1024 * 1024) - body.length);
  };
  const post = (key: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    stack.request('POST', '/dispatches', {
      headers: { 'content-type': 'application/json', 'idempotency-key': key, ...headers },
      body,
    });
  const gzip = { 'content-type': 'application/gzip' };

  it.each([
    ['of 3.9 MB is taken', () => post('b1', padded(3.9)), 202],
    ['of 4.1 MB is too large', () => post('b2', padded(4.1)), 413],
    ['of 7 MB is too large', () => post('b3', padded(7)), 413],
    ['of 20 MB in gzip is taken', () => post('b4', gzipSync(padded(20)), gzip), 202],
    [
      'in gzip that is called JSON is damaged by the gateway',
      () => post('b10', gzipSync(padded(1)), { 'content-encoding': 'gzip' }),
      400,
    ],
    ['that unpacks to 25 MB is too large', () => post('b5', gzipSync(padded(25)), gzip), 413],
    ['that is no JSON is refused', () => post('b6', '{"scenarioId":'), 400],
    ['of another content type is refused', () => post('b7', '{}', { 'content-type': 'text/csv' }), 415],
    ['without recipients is refused', () => stack.post('b8', stack.bodyOf(0)), 422],
  ])('%s', async (_name, send, status) => {
    expect((await send()).status).toBe(status);
  });

  it('with 50,001 recipients is refused, naming the limit (U19)', async () => {
    const many = {
      ...stack.bodyOf(0),
      recipients: Array.from({ length: 50_001 }, (_, i) => ({ applyId: i, email: `p${i}@example.com` })),
    };

    const response = await post('b9', gzipSync(JSON.stringify(many)), gzip);

    expect(response.status).toBe(422);
    expect(JSON.stringify(await problem(response))).toContain('50,000');
  });

  it('with several faults is answered with each of them, and no value (U15, S14)', async () => {
    const [first, second] = stack.bodyOf(2).recipients;
    const recipients = [
      { ...first, email: 'two@@secret.example' },
      { ...second, applyId: first?.applyId, email: 'dån@example.com' },
    ];

    const response = await stack.post('b10', { ...stack.bodyOf(0), recipients });

    expect(response.status).toBe(422);
    const text = JSON.stringify(await problem(response));
    expect(text).toContain('/recipients/0/email');
    expect(text).toContain('/recipients/1/email');
    expect(text).not.toContain('secret');
  });

  it('in which a variable is missing for one recipient is refused, naming both, and its key stays free (S11)', async () => {
    const body = stack.bodyOf(3);
    const recipients = body.recipients.map((each, i) => (i === 1 ? { ...each, variables: {} } : each));

    const refused = await stack.post('b11', { ...body, recipients });

    expect(refused.status).toBe(422);
    expect(JSON.stringify(await problem(refused))).toContain('apply-1');
    expect((await stack.post('b11', body)).status).toBe(202);
  });
});

describe('a token (A7)', () => {
  it.each([
    ['that is absent', '', 401],
    ['that is no token', 'abc', 401],
  ])('%s is refused', async (_name, token, status) => {
    expect((await stack.request('GET', '/dispatches/x', { token })).status).toBe(status);
  });

  it('of an issuer nobody trusts is refused', async () => {
    const { privateKey } = await crypto.subtle.generateKey(
      { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
      true,
      ['sign', 'verify'],
    );
    const token = await new SignJWT({ scope: 'mail:read' })
      .setProtectedHeader({ alg: 'RS256' })
      .setSubject('a')
      .setAudience('mail-dispatch')
      .setExpirationTime('1h')
      .sign(privateKey);

    expect((await stack.request('GET', '/dispatches/x', { token })).status).toBe(401);
  });
});

it('what was logged, counted, queued and answered to all of that has no address, name, variable or subject in it (S14)', () => {
  expect(stack.log('accept-dispatch')).toContain('"level":"INFO"');

  expect(() => {
    stack.lookForLeaks();
  }).not.toThrow();
});
