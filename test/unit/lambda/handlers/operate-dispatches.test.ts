import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { CommandResult, OperateDispatch } from '../../../../lambda/application/commands/operate-dispatch.ts';
import type { RetryRecipients } from '../../../../lambda/application/commands/retry-recipients.ts';
import type { Settled } from '../../../../lambda/application/commands/settle-recipient.ts';
import type { SettleRecipients } from '../../../../lambda/application/commands/settle-recipients.ts';
import { Unavailable } from '../../../../lambda/application/ports/errors.ts';
import { RetriedView } from '../../../../lambda/contracts/http/request/retry.ts';
import { SettledView } from '../../../../lambda/contracts/http/request/settle.ts';
import { CommandView } from '../../../../lambda/contracts/http/response/command-view.ts';
import { RecipientView } from '../../../../lambda/contracts/http/response/dispatch-view.ts';
import { ExportView } from '../../../../lambda/contracts/http/response/export-view.ts';
import { createHandler } from '../../../../lambda/handlers/operate-dispatches/handler.ts';
import { aDispatch, aRecipient } from '../../../support/builders.ts';
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
const CANCEL = 'POST /dispatches/{dispatchId}/cancel';
const RESUME = 'POST /dispatches/{dispatchId}/resume';
const cancelled: CommandResult = {
  outcome: 'accepted',
  dispatch: aDispatch({ dispatchId: ID, status: 'CANCELLED' }),
  task: 2,
  isNew: true,
};

interface Others {
  readonly scopePrefix?: string;
  readonly retried?: Awaited<ReturnType<RetryRecipients>>;
  readonly settled?: Settled;
  readonly settledMany?: Awaited<ReturnType<SettleRecipients>>;
}

const post = async (
  parts: RequestParts,
  result: CommandResult | Error = cancelled,
  { retried = [], settled, settledMany = [], scopePrefix = '' }: Others = {},
) => {
  const others: unknown[][] = [];
  const calls: Parameters<OperateDispatch>[] = [];
  const handler = createHandler({
    scopePrefix,
    operateDispatch: (...args) => {
      calls.push(args);
      return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
    },
    retryRecipients: (...args) => {
      others.push(args);
      return Promise.resolve(retried);
    },
    settleRecipient: (...args) => {
      others.push(args);
      return Promise.resolve(settled ?? { outcome: 'not-found' });
    },
    settleRecipients: (...args) => {
      others.push(args);
      return Promise.resolve(settledMany);
    },
    clock: () => T0,
    telemetry: output.telemetry,
  });
  const answer = await handler(httpEvent({ routeKey: CANCEL, pathParameters: { dispatchId: ID }, ...parts }), aContext());
  return { ...answer, json: JSON.parse(answer.body) as unknown, calls, others };
};

describe('a dispatch', () => {
  it.each([
    [CANCEL, 'cancel'],
    [RESUME, 'resume'],
  ])('is changed by %s', async (routeKey, command) => {
    const { calls } = await post({ routeKey, claims: { sub: 'op', scope: 'mail:operate' } });

    expect(calls.map((args) => args.slice(0, 3))).toEqual([[{ adminId: 'op', isOperator: true }, command, ID]]);
  });

  it.each([
    ['mail-dispatch/mail:operate', true],
    ['mail:operate', false],
  ])('of an issuer with a prefix is changed by scope %s as an operator: %s', async (scope, isOperator) => {
    const { calls } = await post({ claims: { sub: 'op', scope } }, cancelled, { scopePrefix: 'mail-dispatch/' });

    expect(calls.map(([person]) => person)).toEqual([{ adminId: 'op', isOperator }]);
  });

  it('that was changed is answered as it is now, with the number of its task', async () => {
    const { statusCode, headers, json } = await post({});

    expect({ statusCode, location: headers['location'] }).toEqual({ statusCode: 202, location: `/dispatches/${ID}` });
    expect(json).toMatchObject({ id: ID, status: 'CANCELLED', task: 2 });
    expect(CommandView.safeParse(json).success).toBe(true);
  });

  it.each<[CommandResult, object]>([
    [
      { outcome: 'refused', because: 'not-stopped', status: 'IN_PROGRESS' },
      { type: 'urn:mail-dispatch:problem:not-stopped', status: 409, detail: 'Its status is IN_PROGRESS.' },
    ],
    [
      { outcome: 'refused', because: 'already-completed', status: 'COMPLETED' },
      { type: 'urn:mail-dispatch:problem:already-completed', status: 409, detail: 'Its status is COMPLETED.' },
    ],
  ])('whose state does not allow it is a conflict that names the state: $because', async (result, expected) => {
    const { statusCode, headers, json } = await post({}, result);

    expect(statusCode).toBe(409);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(json).toMatchObject(expected);
  });

  it('of another admin is answered byte for byte like one that does not exist (A5)', async () => {
    const another = await post({}, { outcome: 'not-found' });
    const malformed = await post({ pathParameters: { dispatchId: 'x' } });

    expect(another.body).toBe('{"type":"urn:mail-dispatch:problem:not-found","status":404,"title":"There is no such dispatch"}');
    expect(malformed).toMatchObject({ statusCode: 404, headers: another.headers, body: another.body, calls: [] });
  });
});

const JSON_HEADERS = { 'content-type': 'application/json' };
const withBody = (routeKey: string, body: unknown, path: Record<string, string> = {}): RequestParts => ({
  routeKey,
  headers: JSON_HEADERS,
  body: JSON.stringify(body),
  pathParameters: { dispatchId: ID, ...path },
});

describe('a retry', () => {
  const RETRY = 'POST /dispatches/{dispatchId}/retry';

  it('of a whole dispatch is a task (U20)', async () => {
    const { statusCode, calls, others } = await post(withBody(RETRY, { statuses: ['UNKNOWN', 'UNKNOWN'] }));

    expect(statusCode).toBe(202);
    expect(calls).toEqual([[{ adminId: 'admin-1', isOperator: false }, 'retry', ID, { statuses: ['UNKNOWN'] }]]);
    expect(others).toEqual([]);
    expect(output.metrics().map(({ name }) => name)).toEqual(['DispatchRetried']);
  });

  it('of given recipients happens at once, and tells what became of each', async () => {
    const retried = [
      { applyId: 'a', result: 'reopened', status: 'PENDING' },
      { applyId: 'b', result: 'left-alone', status: 'SENT' },
    ] as const;
    const { statusCode, json, others, calls } = await post(
      withBody(RETRY, { statuses: ['FAILED'], applyIds: ['a', 'b'] }),
      cancelled,
      { retried },
    );

    expect({ statusCode, json, calls }).toEqual({ statusCode: 200, json: { recipients: retried }, calls: [] });
    expect(RetriedView.safeParse(json).success).toBe(true);
    expect(others[0]?.[2]).toEqual({ statuses: ['FAILED'], applyIds: ['a', 'b'] });
    expect(output.metrics()).toMatchObject([{ name: 'RecipientReopened', value: 1 }]);
  });

  it.each<[string, unknown]>([
    ['no-statuses', { statuses: [] }],
    ['type', { statuses: ['SENT'] }],
    ['required', {}],
    ['no-apply-ids', { statuses: ['FAILED'], applyIds: [] }],
    ['too-many-apply-ids', { statuses: ['FAILED'], applyIds: Array.from({ length: 101 }, (_, i) => `${i}`) }],
    ['id-length', { statuses: ['FAILED'], applyIds: [''] }],
    ['unknown-field', { statuses: ['FAILED'], all: true }],
  ])('of a body that breaks the rule %s is refused', async (rule, body) => {
    const { statusCode, json, calls, others } = await post(withBody(RETRY, body));

    expect({ statusCode, calls, others }).toEqual({ statusCode: 422, calls: [], others: [] });
    expect(json).toMatchObject({ errors: [{ rule }] });
  });

  it.each(['already-cancelled', 'expired'] as const)('is a conflict: %s', async (retried) => {
    const one = await post(withBody(RETRY, { statuses: ['FAILED'], applyIds: ['a'] }), cancelled, { retried });
    const whole = await post(withBody(RETRY, { statuses: ['FAILED'] }), {
      outcome: 'refused',
      because: retried,
      status: 'COMPLETED',
    });

    for (const { statusCode, json } of [one, whole]) {
      expect({ statusCode, json }).toMatchObject({ statusCode: 409, json: { type: `urn:mail-dispatch:problem:${retried}` } });
    }
  });
});

describe('settling a recipient', () => {
  const SETTLE = 'POST /dispatches/{dispatchId}/recipients/{applyId}/settle';
  const body = { as: 'sent', note: 'she answered it' };

  it('is answered with the recipient', async () => {
    const row = aRecipient(
      { status: 'SENT', round: 1, attemptCount: 1, sentAt: T0 },
      { settled: { ...body, as: 'sent', who: 'admin-1', at: T0 } },
    );
    const { statusCode, json, others } = await post(withBody(SETTLE, body, { applyId: 'a-1' }), cancelled, {
      settled: { outcome: 'settled', row, isNew: true },
    });

    expect(statusCode).toBe(200);
    expect(RecipientView.parse(json)).toMatchObject({
      applyId: 'a-1',
      status: 'SENT',
      settled: { as: 'sent', who: 'admin-1', note: 'she answered it' },
    });
    expect(others).toEqual([[{ adminId: 'admin-1', isOperator: false }, ID, ['a-1'], body]]);
    expect(output.metrics().map(({ name }) => name)).toEqual(['RecipientSettledByHand']);
    expect(output.text()).not.toContain('she answered');
  });

  it.each<[Settled, object]>([
    [
      { outcome: 'not-unknown', status: 'SENT' },
      { status: 409, type: 'urn:mail-dispatch:problem:not-unknown', detail: 'Its status is SENT.' },
    ],
    [{ outcome: 'no-recipient' }, { status: 404, type: 'urn:mail-dispatch:problem:no-such-recipient' }],
    [{ outcome: 'not-found' }, { status: 404, type: 'urn:mail-dispatch:problem:not-found' }],
  ])('that cannot be settled says why: $outcome', async (settled, expected) => {
    expect((await post(withBody(SETTLE, body, { applyId: 'a' }), cancelled, { settled })).json).toMatchObject(expected);
  });

  it.each<[string, unknown]>([
    ['note-empty', { as: 'sent', note: ' ' }],
    ['required', { as: 'sent' }],
    ['type', { as: 'lost', note: 'x' }],
    ['reason-length', { as: 'failed', note: 'x'.repeat(501) }],
  ])('by a body that breaks the rule %s is refused', async (rule, wrong) => {
    expect(await post(withBody(SETTLE, wrong, { applyId: 'a' }))).toMatchObject({
      statusCode: 422,
      json: { errors: [{ rule }] },
      others: [],
    });
  });
});

describe('settling several recipients', () => {
  const SETTLE = 'POST /dispatches/{dispatchId}/settle';
  const word = { as: 'failed', note: 'not in the log' } as const;

  it('of given ones happens at once, and tells what became of each', async () => {
    const settledMany = [
      { applyId: 'a', result: 'settled', status: 'FAILED', isNew: true },
      { applyId: 'b', result: 'settled', status: 'FAILED', isNew: false },
      { applyId: 'c', result: 'left-alone', status: 'SENT', isNew: false },
    ] as const;
    const body = withBody(SETTLE, { ...word, applyIds: ['a', 'b', 'c'] });
    const { statusCode, json, others, calls } = await post(body, cancelled, { settledMany });

    expect({ statusCode, calls }).toEqual({ statusCode: 200, calls: [] });
    expect(SettledView.parse(json).recipients).toEqual(
      settledMany.map(({ applyId, result, status }) => ({ applyId, result, status })),
    );
    expect(json).not.toHaveProperty('recipients.0.isNew');
    expect(others).toEqual([[{ adminId: 'admin-1', isOperator: false }, ID, ['a', 'b', 'c'], word]]);
    expect(output.metrics()).toMatchObject([{ name: 'RecipientSettledByHand', value: 1 }]);
    expect(output.text()).not.toContain('not in the log');
  });

  it('of all is a task', async () => {
    const { statusCode, calls, others } = await post(withBody(SETTLE, { ...word, all: true }));

    expect({ statusCode, others }).toEqual({ statusCode: 202, others: [] });
    expect(calls).toEqual([[{ adminId: 'admin-1', isOperator: false }, 'settle', ID, { word }]]);
    expect(output.metrics().map(({ name }) => name)).toEqual(['DispatchSettled']);
    expect(output.text()).not.toContain('not in the log');
  });

  it('of another admin’s dispatch is answered like one that does not exist (A5)', async () => {
    const given = await post(withBody(SETTLE, { ...word, applyIds: ['a'] }), cancelled, { settledMany: 'not-found' });
    const all = await post(withBody(SETTLE, { ...word, all: true }), { outcome: 'not-found' });

    expect([given.statusCode, all.statusCode]).toEqual([404, 404]);
    expect(given.body).toBe(all.body);
  });

  it.each<[string, unknown]>([
    ['apply-ids-or-all', word],
    ['apply-ids-or-all', { ...word, all: true, applyIds: ['a'] }],
    ['type', { ...word, all: false }],
    ['no-apply-ids', { ...word, applyIds: [] }],
    ['too-many-apply-ids', { ...word, applyIds: Array.from({ length: 101 }, (_, i) => `${i}`) }],
    ['note-empty', { as: 'sent', note: ' ', all: true }],
    ['required', { note: 'x', all: true }],
    ['unknown-field', { ...word, all: true, statuses: ['UNKNOWN'] }],
  ])('by a body that breaks the rule %s is refused: %j', async (rule, body) => {
    expect(await post(withBody(SETTLE, body))).toMatchObject({
      statusCode: 422,
      json: { errors: [{ rule }] },
      calls: [],
      others: [],
    });
  });
});

describe('an export', () => {
  const EXPORT = 'POST /dispatches/{dispatchId}/exports';

  it.each<[string, RequestParts, unknown]>([
    ['of all recipients, without a body', { routeKey: EXPORT }, undefined],
    ['of all recipients', withBody(EXPORT, {}), undefined],
    ['of those in a state', withBody(EXPORT, { status: 'FAILED' }), { statuses: ['FAILED'] }],
  ])('begins as a task: %s', async (_name, parts, statuses) => {
    const { statusCode, headers, json, calls } = await post(parts);

    expect({ statusCode, location: headers['location'] }).toEqual({ statusCode: 202, location: `/dispatches/${ID}/exports/2` });
    expect(json).toMatchObject({ export: 2, state: 'running', recipients: 0 });
    expect(ExportView.safeParse(json).success).toBe(true);
    expect(calls[0]?.[3]).toEqual(statuses);
  });

  it('in a state that does not exist is refused', async () => {
    expect(await post(withBody(EXPORT, { status: 'LOST' }))).toMatchObject({
      statusCode: 422,
      json: { errors: [{ pointer: '/status' }] },
      calls: [],
    });
  });
});

describe('an answer', () => {
  it('is 404 on a route that this function does not serve', async () => {
    expect(await post({ routeKey: 'POST /dispatches/{dispatchId}/erase' })).toMatchObject({ statusCode: 404, calls: [] });
  });

  it('is 403 for nobody', async () => {
    expect(await post({ claims: {} })).toMatchObject({ statusCode: 403, calls: [] });
  });

  it('asks to try again while the table does not answer', async () => {
    const answer = await post({}, new Unavailable('the table', 1));

    expect(answer).toMatchObject({ statusCode: 503, headers: { 'retry-after': '1' } });
  });

  it('is 500 on a bug, whose message is shown nowhere (S14)', async () => {
    const answer = await post({}, new Error('about kim@example.com'));

    expect(answer.statusCode).toBe(500);
    expect(answer.body + output.text()).not.toContain('kim@example.com');
  });

  it.each<[string[], RequestParts, CommandResult | Error]>([
    [['DispatchCancelled'], {}, cancelled],
    [['DispatchResumed'], { routeKey: RESUME }, cancelled],
    [[], {}, { ...cancelled, isNew: false }],
    [['OperationRefused'], {}, { outcome: 'not-found' }],
    [['OperationUnavailable'], {}, new Unavailable('the table', 1)],
    [['OperationFailed'], {}, new Error('bug')],
  ])('counts as %j', async (names, parts, result) => {
    await post(parts, result);

    expect(output.metrics().map(({ name }) => name)).toEqual(names);
  });
});
