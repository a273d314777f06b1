import { describe, expect, it } from 'vitest';
import * as z from 'zod';

import { DispatchesView } from '../../lambda/contracts/http/request/dispatches-query.ts';
import { ExportView } from '../../lambda/contracts/http/response/export-view.ts';
import { poll } from '../support/stack.ts';
import { CRASH_HOOKS } from '../support/stack-settings.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack('calls', { LOCAL_HOOKS: CRASH_HOOKS });

const call = (method: 'GET' | 'POST', path: string, body?: unknown, token = stack.description.tokens.admin) =>
  stack.request(method, path, {
    token,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
const json = async (answer: Promise<Response>): Promise<unknown> => (await answer).json();

describe('a list', () => {
  it('shows one’s dispatches and nobody else’s, and operators what should be looked at', async () => {
    const id = await stack.accepted('listed', stack.bodyOf(1));
    await stack.finished(id);
    const list = async (query: string, token?: string) =>
      DispatchesView.parse(await json(call('GET', `/dispatches${query}`, undefined, token))).dispatches.map((each) => each.id);

    expect(await list('')).toContain(id);
    expect(await list('', stack.description.tokens.secondAdmin)).not.toContain(id);
    expect((await call('GET', '/dispatches?open=true')).status).toBe(403);
    expect(Array.isArray(await list('?open=true', stack.description.tokens.operator))).toBe(true);
  });
});

describe('recipients whose mail was refused', () => {
  it('are found, shown, sent to again and exported (U20)', async () => {
    await stack.fault({ fault: 'bad-request', recipient: 'refused-' });
    const id = await stack.accepted(
      'refused',
      stack.bodyOf(6, (i) => (i < 2 ? `refused-${i}` : `fine-${i}`)),
    );
    expect((await stack.finished(id)).counts).toMatchObject({ SENT: 4, FAILED: 2 });
    const page = z.object({ recipients: z.array(z.looseObject({ applyId: z.string() })) });
    const { recipients } = page.parse(await json(call('GET', `/dispatches/${id}/recipients?status=FAILED`)));
    const [first] = recipients;
    expect(await json(call('GET', `/dispatches/${id}/recipients/${encodeURIComponent(first?.applyId ?? '')}`))).toEqual(first);
    await fetch(`${stack.description.ses}/_gate/faults`, { method: 'DELETE' });

    const one = await json(call('POST', `/dispatches/${id}/retry`, { statuses: ['FAILED'], applyIds: [first?.applyId] }));
    const rest = await call('POST', `/dispatches/${id}/retry`, { statuses: ['FAILED', 'UNKNOWN'] });

    expect(one).toEqual({ recipients: [{ applyId: first?.applyId, result: 'reopened', status: 'PENDING' }] });
    expect(rest.status).toBe(202);
    await poll(
      () => stack.dispatch(id),
      ({ counts, status }) => counts['SENT'] === 6 && status === 'COMPLETED',
    );
    expect([...stack.mails(id).values()]).toEqual(new Array(6).fill(1));

    const begun = ExportView.parse(await json(call('POST', `/dispatches/${id}/exports`)));
    const done = await poll(
      async () => ExportView.parse(await json(call('GET', begun.links.self))),
      ({ state }) => state === 'done',
    );
    const file = await fetch(done.url ?? '');
    const bytes = Buffer.from(await file.arrayBuffer());
    expect(file.headers.get('content-type')).toMatch(/^text\/csv/);
    expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
    expect(bytes.toString('utf8').trimEnd().split('\r\n')).toHaveLength(7);
  });
});

describe('what cannot be done', () => {
  it('is a problem that says why', async () => {
    const id = await stack.accepted('settled', stack.bodyOf(1));
    await stack.finished(id);
    const page = z.object({ recipients: z.array(z.looseObject({ applyId: z.string() })) });
    const { recipients } = page.parse(await json(call('GET', `/dispatches/${id}/recipients`)));
    const path = `/dispatches/${id}/recipients/${encodeURIComponent(recipients[0]?.applyId ?? '')}/settle`;

    const known = await call('POST', path, { as: 'failed', note: 'x' });
    const theirs = await call('POST', path, { as: 'failed', note: 'x' }, stack.description.tokens.secondAdmin);
    const missing = await call('GET', `/dispatches/${id}/exports/99`);

    expect([known, theirs, missing].map(({ status }) => status)).toEqual([409, 404, 404]);
    for (const answer of [known, theirs, missing]) expect(answer.headers.get('content-type')).toBe('application/problem+json');
  });

  it('is told where the API is described', async () => {
    expect(await json(call('GET', '/openapi.json'))).toMatchObject({ openapi: '3.1.0' });
    expect(await (await call('GET', '/docs')).text()).toContain('POST /dispatches');
  });
});
