import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { checkFromOutside } from '../support/invariants.ts';
import { poll, type TestStack } from '../support/stack.ts';
import { openObjects } from '../support/stack-objects.ts';
import { CRASH_HOOKS } from '../support/stack-settings.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack('large-list-crashes', { LOCAL_HOOKS: CRASH_HOOKS });
let objects: ReturnType<typeof openObjects>;

/** More than fit one transaction as rows. */
const MANY = 150;
const WORKER = 'run-task';
/** Until the test ends it, however long the machine takes. */
const OUTAGE_SECONDS = 600;

beforeAll(() => {
  objects = openObjects(stack.description);
});
afterAll(() => {
  objects.close();
});

const sentOnce = async (key: string, body: ReturnType<TestStack['bodyOf']>) => {
  await stack.finished(stack.idOf(key));
  expect(await checkFromOutside(stack, stack.idOf(key), body)).toMatchObject({ sent: MANY, lost: 0, duplicates: 0 });
};
const bodyOf = (key: string) => stack.bodyOf(MANY, (i) => `${key}-${i}`);

describe('kill -9 of accept', () => {
  it('between an object and the commit leaves an orphan alone, and a repetition is accepted', async () => {
    const body = bodyOf('orphaned');
    const id = stack.idOf('orphaned');
    await stack.crash({ point: 'accept-after-object', about: id });

    expect((await stack.post('orphaned', body)).status).toBeGreaterThanOrEqual(500);
    const [orphan] = await objects.keys(id);
    expect(orphan).toBeDefined();
    expect((await stack.request('GET', `/dispatches/${id}`)).status).toBe(404);

    expect((await stack.post('orphaned', body)).status).toBe(202);
    await sentOnce('orphaned', body);
    expect(await objects.keys(id)).toEqual([orphan]);
  });

  it('after the commit loses nothing: a repetition tells that it was taken', async () => {
    const body = bodyOf('committed');
    await stack.crash({ point: 'accept-after', about: stack.idOf('committed') });

    expect((await stack.post('committed', body)).status).toBeGreaterThanOrEqual(500);
    const repeated = await stack.post('committed', { ...body, recipients: body.recipients.toReversed() });

    expect([repeated.status, repeated.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    await sentOnce('committed', body);
    expect(await objects.keys(stack.idOf('committed'))).toEqual([]);
  });
});

it('kill -9 of the worker between the batch item and its object leaves an orphan, and each mail is sent once', async () => {
  const body = bodyOf('expanded');
  await stack.crash({ point: 'expand-after-delete', about: stack.idOf('expanded') });

  await stack.accepted('expanded', body);

  await stack.crashed();
  await sentOnce('expanded', body);
  expect(await objects.keys(stack.idOf('expanded'))).toHaveLength(1);
});

it('a request whose objects cannot be stored is answered 503 and stores nothing, and its key stays free', async () => {
  const body = bodyOf('unstored');
  await stack.outage('accept-dispatch', 's3', OUTAGE_SECONDS);

  const refused = await stack.post('unstored', body);

  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect((await stack.request('GET', `/dispatches/${stack.idOf('unstored')}`)).status).toBe(404);
  await stack.endOutages();
  await stack.accepted('unstored', body);
  await sentOnce('unstored', body);
});

it('an expansion whose store does not answer goes on when it does (V23)', async () => {
  const body = bodyOf('waiting');
  await stack.outage(WORKER, 's3', OUTAGE_SECONDS);
  await stack.accepted('waiting', body);
  await sleep(5_000);
  expect((await stack.dispatch(stack.idOf('waiting'))).counts['SENT']).toBe(0);

  await stack.endOutages();

  await sentOnce('waiting', body);
});

describe('an object that is damaged before it is expanded', () => {
  it('stops its dispatch, and after it was restored a resume sends every mail (V26)', async () => {
    const body = bodyOf('damaged');
    const id = stack.idOf('damaged');
    await stack.outage(WORKER, 'dynamodb', OUTAGE_SECONDS);
    await stack.accepted('damaged', body);
    const [key = ''] = await objects.keys(id);
    const bytes = await objects.get(key);
    await objects.remove(key);
    await stack.endOutages();

    await poll(
      () => stack.dispatch(id),
      ({ status }) => status === 'STOPPED',
    );
    expect(await (await stack.request('GET', `/dispatches/${id}`)).json()).toMatchObject({
      failureReason: 'recipients-unreadable',
    });
    await objects.put(key, bytes);
    expect((await stack.operate(id, 'resume')).status).toBe(202);

    await sentOnce('damaged', body);
  });

  it('does not keep its dispatch from being cancelled', async () => {
    const id = stack.idOf('given-up');
    await stack.outage(WORKER, 'dynamodb', OUTAGE_SECONDS);
    await stack.accepted('given-up', bodyOf('given-up'));
    for (const key of await objects.keys(id)) await objects.remove(key);
    await stack.endOutages();
    expect((await stack.operate(id, 'cancel')).status).toBe(202);

    const { counts } = await poll(
      () => stack.dispatch(id),
      (dispatch) => dispatch.counts['CANCELLED'] === MANY,
    );
    expect(counts).toMatchObject({ PENDING: 0, SENT: 0 });
    expect(stack.journal(id)).toEqual([]);
  });
});

it('kill -9 of the whole stack loses no list that is not expanded yet', async () => {
  const body = bodyOf('killed');
  await stack.outage(WORKER, 'dynamodb', OUTAGE_SECONDS);
  await stack.accepted('killed', body);
  expect(await objects.keys(stack.idOf('killed'))).toHaveLength(1);
  await stack.launched.kill();

  await stack.start();
  objects = openObjects(stack.description);

  await sentOnce('killed', body);
});
