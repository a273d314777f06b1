import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Unavailable } from '../../../../lambda/application/accept-ports.ts';
import type { Operated, OperateDispatch } from '../../../../lambda/application/operate-dispatch.ts';
import { OperatedView } from '../../../../lambda/contracts/operated-view.ts';
import { createHandler } from '../../../../lambda/handlers/operate-dispatches/handler.ts';
import { aDispatch } from '../../../support/builders.ts';
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
const CANCEL = 'POST /dispatches/{dispatchId}/cancel';
const RESUME = 'POST /dispatches/{dispatchId}/resume';
const cancelled: Operated = {
  outcome: 'accepted',
  dispatch: aDispatch({ dispatchId: ID, status: 'CANCELLED' }),
  task: 2,
  isNew: true,
};

const post = async (parts: RequestParts, result: Operated | Error = cancelled) => {
  const calls: Parameters<OperateDispatch>[] = [];
  const handler = createHandler({
    operateDispatch: (...args) => {
      calls.push(args);
      return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
    },
    telemetry: output.telemetry,
  });
  const answer = await handler(httpEvent({ routeKey: CANCEL, pathParameters: { dispatchId: ID }, ...parts }), aContext());
  return { ...answer, json: JSON.parse(answer.body) as unknown, calls };
};

describe('a dispatch', () => {
  it.each([
    [CANCEL, 'cancel'],
    [RESUME, 'resume'],
  ])('is changed by %s', async (routeKey, operation) => {
    const { calls } = await post({ routeKey, claims: { sub: 'op', scope: 'mail:operate' } });

    expect(calls).toEqual([[{ adminId: 'op', isOperator: true }, operation, ID]]);
  });

  it('that was changed is answered as it is now, with the number of its task', async () => {
    const { statusCode, headers, json } = await post({});

    expect({ statusCode, location: headers['location'] }).toEqual({ statusCode: 202, location: `/dispatches/${ID}` });
    expect(json).toMatchObject({ id: ID, status: 'CANCELLED', task: 2 });
    expect(OperatedView.safeParse(json).success).toBe(true);
  });

  it.each<[Operated, object]>([
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

  it.each<[string[], RequestParts, Operated | Error]>([
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
