import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';

import { poll, TestStack } from '../support/stack.ts';

const ORIGIN = 'https://admin.example.org';
/** A stage whose tokens are like Cognito's, which pages of one origin may call, and which mails few. */
const stack = new TestStack({
  LOCAL_TOKEN_FORM: 'cognito',
  AUDIENCE: 'client-of-admins',
  SCOPE_PREFIX: 'mail-dispatch/',
  FROM_ADDRESS: '채용, 팀 <Jobs@Bücher.example>',
  ALLOWED_ORIGINS: ORIGIN,
  ALLOWED_RECIPIENTS: 'person-0@example.com,*.team.example,bücher.example',
});

beforeAll(() => stack.start());
afterAll(() => stack.end());

const Problem = z.object({
  type: z.string(),
  total: z.number(),
  errors: z.array(z.looseObject({ pointer: z.string(), rule: z.string() })),
});

const bodyTo = (...emails: string[]) => {
  const body = stack.bodyOf(emails.length);
  return { ...body, recipients: body.recipients.map((each, i) => ({ ...each, email: emails[i] ?? '' })) };
};

describe('tokens like those of Cognito', () => {
  it('open their routes to admins, and all dispatches to operators alone', async () => {
    const id = await stack.accepted('tokens', bodyTo('Person-0@example.com'));

    const { operator, secondAdmin } = stack.description.tokens;
    expect((await stack.request('GET', `/dispatches/${id}`)).status).toBe(200);
    expect((await stack.request('GET', `/dispatches/${id}`, { token: secondAdmin })).status).toBe(404);
    expect((await stack.request('GET', `/dispatches/${id}`, { token: operator })).status).toBe(200);
    expect((await stack.request('GET', '/sending')).status).toBe(403);
    expect((await stack.request('GET', '/sending', { token: operator })).status).toBe(200);
  });
});

describe('pages of other origins', () => {
  const preflight = (origin: string) =>
    stack.request('OPTIONS', '/dispatches', {
      token: '',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,idempotency-key',
      },
    });

  it('may ask and read if they are named', async () => {
    const asked = await preflight(ORIGIN);
    const answered = await stack.request('GET', '/dispatches', { headers: { origin: ORIGIN } });

    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(asked.headers.get('access-control-allow-methods')).toBe('GET,POST,PUT');
    expect(asked.headers.get('access-control-allow-headers')).toContain('idempotency-key');
    expect(answered.status).toBe(200);
    expect(answered.headers.get('access-control-allow-origin')).toBe(ORIGIN);
    expect(answered.headers.get('access-control-expose-headers')).toContain('idempotency-replayed');
  });

  it('get no permission if they are not', async () => {
    expect((await preflight('https://other.example')).headers.get('access-control-allow-origin')).toBeNull();
    const answered = await stack.request('GET', '/dispatches', { headers: { origin: 'https://other.example' } });
    expect(answered.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('recipients whom the stage may not mail', () => {
  const body = () =>
    bodyTo('kim@b.team.example', 'kim@team.example', 'person-0@example.com', 'person-1@example.com', 'a@Bücher.example');

  it('are a 422 that names each, and nothing is stored', async () => {
    const refused = await stack.post('refused', body());

    expect(refused.status).toBe(422);
    expect(Problem.parse(await refused.json())).toMatchObject({
      type: 'urn:mail-dispatch:problem:invalid-request',
      total: 2,
      errors: [
        { pointer: '/recipients/1/email', rule: 'recipient-not-allowed', applyId: 'apply-1' },
        { pointer: '/recipients/3/email', rule: 'recipient-not-allowed', applyId: 'apply-3' },
      ],
    });
    expect((await stack.request('GET', `/dispatches/${stack.idOf('refused')}`)).status).toBe(404);
  });

  it('are named by a preview', async () => {
    const headers = { 'content-type': 'application/json' };
    const answer = await stack.request('POST', '/dispatches/preview', { headers, body: JSON.stringify(body()) });

    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      faultsTotal: 2,
      faults: [{ pointer: '/recipients/1/email' }, { pointer: '/recipients/3/email' }],
    });
  });

  it('are not mailed if they were accepted before the stage was restricted, and the others are, from the same sender', async () => {
    await stack.pause();
    const id = await stack.accepted(
      'restricted',
      bodyTo('person-0@example.com', 'kim@b.team.example', 'success@simulator.amazonses.com'),
    );
    await stack.launched.stop();
    await stack.start({ ALLOWED_RECIPIENTS: 'person-0@example.com', FROM_ADDRESS: 'Jobs <jobs@new.example>' });
    await stack.sending({ paused: false });

    await stack.finished(id, 80_000);

    expect((await stack.recipients(id)).map(({ applyId, status }) => [applyId, status])).toEqual([
      ['apply-0', 'SENT'],
      ['apply-1', 'FAILED'],
      ['apply-2', 'SENT'],
    ]);
    const [failed] = await stack.recipients(id, 'status=FAILED');
    expect(failed).toMatchObject({ lastErrorCode: 'RECIPIENT_NOT_ALLOWED' });
    expect(stack.mails(id)).toEqual(
      new Map([
        ['person-0@example.com', 1],
        ['success@simulator.amazonses.com', 1],
      ]),
    );
    // The same request again is still the same dispatch.
    const replayed = await poll(
      () => stack.post('restricted', bodyTo('person-0@example.com', 'kim@b.team.example', 'success@simulator.amazonses.com')),
      ({ status }) => status !== 503,
    );
    expect(replayed.status).toBe(200);
  });
});
