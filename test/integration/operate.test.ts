import { describe, expect, it } from 'vitest';
import * as z from 'zod';

import { poll } from '../support/stack.ts';
import { PATIENT_TIMES } from '../support/stack-settings.ts';
import { useStack } from '../support/use-stack.ts';

/** Slow enough for a person to step in while mails go out. */
const stack = useStack('operate', { ...PATIENT_TIMES, LOCAL_SES_RATE: '20' });

const post = (id: string, operation: 'cancel' | 'resume', token = stack.description.tokens.admin) =>
  stack.request('POST', `/dispatches/${id}/${operation}`, { token });
const sending = (method: 'GET' | 'PUT', body?: unknown, token = stack.description.tokens.operator) =>
  stack.request(method, '/sending', {
    token,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

const CommandResult = z.looseObject({ id: z.string(), status: z.string(), task: z.number() });
const Retried = z.object({ recipients: z.array(z.looseObject({ result: z.string(), status: z.string() })) });
const retry = async (id: string, body: unknown) => {
  const response = await stack.request('POST', `/dispatches/${id}/retry`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return Retried.parse(await response.json()).recipients;
};
const Problem = z.looseObject({ type: z.string(), detail: z.string().optional() });
const problem = async (response: Response) => {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  return Problem.parse(await response.json());
};
const sentOf = async (id: string): Promise<number> => (await stack.dispatch(id)).counts['SENT'] ?? 0;

describe('cancelling', () => {
  it('while mails go out leaves every recipient sent or cancelled, and sends no more (U16)', async () => {
    const id = await stack.accepted('cancel', stack.bodyOf(200));
    await poll(
      () => sentOf(id),
      (sent) => sent >= 20,
    );

    const first = await post(id, 'cancel');
    const second = await post(id, 'cancel');

    expect([first.status, second.status]).toEqual([202, 202]);
    const answer = CommandResult.parse(await first.json());
    expect(answer).toMatchObject({ id, status: 'CANCELLED', task: 1 });
    expect(CommandResult.parse(await second.json())).toEqual(answer);

    const { status, counts } = await stack.finished(id);
    const { SENT: sent = 0, CANCELLED: cancelled = 0 } = counts;
    expect({ status, all: sent + cancelled }).toEqual({ status: 'CANCELLED', all: 200 });
    expect(cancelled).toBeGreaterThan(0);
    expect([...stack.mails(id).values()]).toEqual(new Array(sent).fill(1));
  });

  it('of a dispatch that is completed is a conflict', async () => {
    const id = await stack.accepted('completed', stack.bodyOf(2));
    await stack.finished(id);
    await poll(
      () => stack.table.dispatch(id),
      ({ status }) => status === 'COMPLETED',
    );

    const response = await post(id, 'cancel');

    expect(response.status).toBe(409);
    expect(await problem(response)).toMatchObject({
      type: 'urn:mail-dispatch:problem:already-completed',
      detail: 'Its status is COMPLETED.',
    });
  });
});

describe('resuming', () => {
  it('of a dispatch that is not stopped is a conflict that names its state', async () => {
    const id = await stack.accepted('resume', stack.bodyOf(1));
    await stack.finished(id);
    await poll(
      () => stack.dispatch(id),
      ({ status }) => status === 'COMPLETED',
    );

    const response = await post(id, 'resume');

    expect(response.status).toBe(409);
    expect(await problem(response)).toMatchObject({ type: 'urn:mail-dispatch:problem:not-stopped' });
  });

  it('of one that was stopped because SES refused every mail sends all of them (S10)', async () => {
    await stack.fault({ fault: 'bad-request', recipient: 'stopped-' });
    // Keeps the dispatch from being complete before it is stopped.
    await stack.fault({ fault: 'throttle', recipient: 'held@' });
    const id = await stack.accepted(
      'stopped',
      stack.bodyOf(60, (i) => (i < 59 ? `stopped-${i}` : 'held')),
    );
    const stopped = await poll(
      () => stack.dispatch(id),
      ({ status, counts }) => status === 'STOPPED' && counts['PROCESSING'] === 0,
    );
    expect(stopped.counts['FAILED']).toBeGreaterThanOrEqual(10);
    expect(stopped.counts['PENDING']).toBeGreaterThan(0);
    await fetch(`${stack.description.ses}/_gate/faults`, { method: 'DELETE' });

    const response = await post(id, 'resume');

    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ id, status: 'IN_PROGRESS', task: 1 });
    expect((await stack.finished(id)).counts['SENT']).toBe(60);
    expect([...stack.mails(id).values()]).toEqual(new Array(60).fill(1));
  });
});

describe('a dispatch that is being sent', () => {
  it('waits while an operator pauses, takes a retry meanwhile, and is sent whole after that, each mail once (U20)', async () => {
    await stack.fault({ fault: 'bad-request', recipient: 'first-time-', times: 5 });
    const address = (i: number) => (i < 5 ? `first-time-${i}` : `person-${i}`);
    const id = await stack.accepted('retried', stack.bodyOf(300, address));
    await poll(
      () => stack.dispatch(id),
      ({ counts: { SENT = 0, FAILED = 0 } }) => SENT >= 10 && FAILED === 5,
    );

    await stack.pause();
    const paused = await poll(
      () => stack.dispatch(id),
      ({ counts }) => counts['PROCESSING'] === 0,
    );
    const again = { statuses: ['FAILED'], applyIds: [0, 1, 2, 3, 4].map((i) => `apply-${i}`) };
    const answers = [await retry(id, again), await retry(id, again)];

    expect(paused.status).toBe('IN_PROGRESS');
    expect(answers.map((each) => each.map(({ result, status }) => [result, status]))).toEqual([
      Array.from({ length: 5 }, () => ['reopened', 'PENDING']),
      Array.from({ length: 5 }, () => ['left-alone', 'PENDING']),
    ]);
    expect((await stack.dispatch(id)).counts).toMatchObject({ SENT: paused.counts['SENT'], FAILED: 0, PROCESSING: 0 });

    await stack.sending({ paused: false });
    const { status, counts } = await stack.finished(id);
    expect({ status, sent: counts['SENT'] }).toEqual({ status: 'COMPLETED', sent: 300 });
    expect([...stack.mails(id).values()]).toEqual(new Array(300).fill(1));
  });
});

describe('a dispatch of another admin', () => {
  it.each(['cancel', 'resume'] as const)('is answered to the byte like one that does not exist (A5): %s', async (operation) => {
    const id = await stack.accepted(`theirs-${operation}`, stack.bodyOf(1));
    const { secondAdmin } = stack.description.tokens;

    const theirs = await post(id, operation, secondAdmin);
    const nobodys = await post(id.replace(/./g, 'a'), operation, secondAdmin);

    expect([theirs.status, nobodys.status]).toEqual([404, 404]);
    expect(await theirs.text()).toBe(await nobodys.text());
    expect((await stack.dispatch(id)).status).not.toBe('CANCELLED');
  });

  it('may be cancelled by an operator', async () => {
    // Enough of them for it not to be over at once.
    const id = await stack.accepted('by-operator', stack.bodyOf(200));

    const response = await post(id, 'cancel', stack.description.tokens.operator);

    expect(response.status).toBe(202);
    expect(await stack.finished(id)).toMatchObject({ status: 'CANCELLED' });
  });
});

describe('sending', () => {
  it('is paused and resumed by an operator, and shown as it is', async () => {
    const paused = await sending('PUT', { paused: true, reason: 'wrong template' });
    const shown = await sending('GET');
    const resumed = await sending('PUT', { paused: false });

    expect([paused.status, shown.status, resumed.status]).toEqual([200, 200, 200]);
    const view: unknown = await shown.json();
    expect(view).toMatchObject({ paused: true, by: 'operator', reason: 'wrong template' });
    expect(await paused.json()).toEqual(view);
    expect(await resumed.json()).toMatchObject({ paused: false });
    expect(await (await sending('GET')).json()).toMatchObject({ paused: false });
  });

  it('is left alone by a body that is not valid', async () => {
    const response = await sending('PUT', { paused: 'yes', until: 'noon' });

    expect(response.status).toBe(422);
    expect(await problem(response)).toMatchObject({
      errors: [
        { pointer: '/paused', rule: 'type' },
        { pointer: '/until', rule: 'unknown-field' },
      ],
    });
    expect(await (await sending('GET')).json()).toMatchObject({ paused: false });
  });

  it.each(['GET', 'PUT'] as const)('is an operator’s matter alone (A7): %s', async (method) => {
    const response = await sending(method, method === 'PUT' ? { paused: true } : undefined, stack.description.tokens.admin);

    expect(response.status).toBe(403);
  });
});
