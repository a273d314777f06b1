import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  ATTENTION,
  contentKey,
  controlKey,
  dispatchKey,
  type ItemKey,
  OPEN,
  recipientKey,
} from '../../lambda/adapters/dynamo/client/keys.ts';
import { createCanaryRepository } from '../../lambda/adapters/dynamo/control/canary-repository.ts';
import { createSendingRepository } from '../../lambda/adapters/dynamo/control/sending-repository.ts';
import { createSweepStates } from '../../lambda/adapters/dynamo/control/sweep-states.ts';
import { createDispatchRepository } from '../../lambda/adapters/dynamo/dispatch/dispatch-repository.ts';
import { createOpenDispatchRepository } from '../../lambda/adapters/dynamo/dispatch/open-dispatch-repository.ts';
import { newRecipientItem, stateAttributes } from '../../lambda/adapters/dynamo/recipient/items.ts';
import type { Dispatch } from '../../lambda/domain/dispatch/dispatch.ts';
import type { Recipient } from '../../lambda/domain/recipient/recipient.ts';
import {
  pausedBy,
  pauseFor,
  type PausePolicy,
  permission,
  resumed,
  SENDING,
  type Sending,
} from '../../lambda/domain/sending/pause.ts';
import { toIso } from '../../lambda/domain/shared/instant.ts';
import {
  aDispatch,
  cancelled,
  exhausted,
  failed,
  pending,
  processing,
  rowCounts,
  sent,
  someCounts,
  unknown,
} from '../support/builders.ts';
import { createFakeClock, T0 } from '../support/clock.ts';
import { startTable, type TestTable } from '../support/table.ts';

const MINUTE = 60_000;
const RETENTION_DAYS = 30;
const EXPIRY = T0 / 1000 + RETENTION_DAYS * 86_400;

let table: TestTable;
beforeAll(async () => {
  table = await startTable();
});
afterAll(async () => {
  await table.stop();
});

const put = (Item: Record<string, unknown>) => table.client.send(new PutCommand({ TableName: table.tableName, Item }));
const get = async (Key: ItemKey) =>
  (await table.client.send(new GetCommand({ TableName: table.tableName, Key, ConsistentRead: true }))).Item;

const putDispatch = async (dispatch: Dispatch, more: Record<string, unknown> = {}): Promise<Dispatch> => {
  await put({
    ...dispatchKey(dispatch.dispatchId),
    ...dispatch,
    createdAt: toIso(dispatch.createdAt),
    createdKey: `${toIso(dispatch.createdAt)}#${dispatch.dispatchId}`,
    openKey: OPEN,
    ...more,
  });
  await put({ ...contentKey(dispatch.dispatchId), data: new Uint8Array([1]) });
  return dispatch;
};

const putRows = async ({ dispatchId, shards }: Dispatch, recipients: readonly Recipient[]): Promise<void> => {
  for (const [i, recipient] of recipients.entries()) {
    const key = { dispatchId, shard: i % shards, applyId: `a-${i}` };
    await put({ ...recipientKey(key), ...newRecipientItem('kim@example.com', {}, T0), ...stateAttributes(recipient) });
  }
};

describe('whether the account may send', () => {
  const policy: PausePolicy = { pauseBaseSeconds: 60, pauseCapSeconds: 600, probeSeconds: 20 };
  const sending = () => createSendingRepository(table.client, table.tableName);
  const now = async (): Promise<Sending> => {
    const found = await sending().read();
    if (found === 'unavailable') throw new Error(found);
    return found;
  };
  const decided = (next: Sending | undefined): Sending => {
    if (next === undefined) throw new Error('nothing to store');
    return next;
  };

  it('is nothing but yes before anybody paused', async () => {
    expect(await now()).toEqual(SENDING);
  });

  it('is changed by one of twenty who pause at once (S9)', async () => {
    const senders = Array.from({ length: 20 }, (_, i) =>
      sending().change(decided(pauseFor(SENDING, `CODE_${i}`, policy, T0 + i))),
    );

    const changed = await Promise.all(senders);

    expect(changed.filter(Boolean)).toHaveLength(1);
    const winner = changed.indexOf(true);
    expect(await now()).toEqual(pauseFor(SENDING, `CODE_${winner}`, policy, T0 + winner));
  });

  it('lets one of twenty probe, though all ask for the very same', async () => {
    const asked = permission(await now(), policy, T0 + 5 * MINUTE);
    if (asked.may !== 'probe') throw new Error(asked.may);

    const granted = await Promise.all(Array.from({ length: 20 }, () => sending().change(asked.next)));

    expect(granted.filter(Boolean)).toHaveLength(1);
    expect(await now()).toEqual(asked.next);
  });

  it('stays an operator’s pause when a probe from before it went well', async () => {
    const probing = await now();
    const operator = pausedBy(probing, { who: 'op-1', reason: 'wrong template' }, T0 + 6 * MINUTE);

    expect(await sending().change(operator)).toBe(true);
    expect(await sending().change(resumed(probing, T0 + 6 * MINUTE))).toBe(false);
    expect(await now()).toEqual(operator);
  });

  it('is yes again, and since when, after a resume', async () => {
    const next = resumed(await now(), T0 + 7 * MINUTE);

    expect(await sending().change(next)).toBe(true);
    expect(await now()).toEqual(next);
    expect(await get(controlKey('SENDING'))).toEqual({
      ...controlKey('SENDING'),
      version: next.version,
      resumedAt: '2026-03-02T09:07:00.000Z',
      ...(next.lastSeconds !== undefined && { lastSeconds: next.lastSeconds }),
    });
  });

  it('cannot be told from an item that no version wrote', async () => {
    await put({ ...controlKey('SENDING'), version: 1, pause: { by: 'nobody' } });

    expect(await sending().read()).toBe('unavailable');
  });
});

describe('what senders tell one another about canaries', () => {
  const canaries = () => createCanaryRepository(table.client, table.tableName);

  it('is nothing before the first one', async () => {
    expect(await canaries().newest()).toBeUndefined();
  });

  it('lets one of twenty send a canary, and the next one ten seconds later', async () => {
    const booked = await Promise.all(Array.from({ length: 20 }, () => canaries().book(T0, 10)));

    expect(booked.filter(Boolean)).toHaveLength(1);
    expect([await canaries().book(T0 + 9_999, 10), await canaries().book(T0 + 10_000, 10)]).toEqual([false, true]);
  });

  it('is the result of the canary that began last, whatever the order', async () => {
    const newer = { beganAt: T0 + 5, answer: { kind: 'account', code: 'ACCESS_DENIED' } } as const;
    await canaries().record(newer);
    await canaries().record({ beganAt: T0, answer: { kind: 'accepted', messageId: 'm-1' } });

    expect(await canaries().newest()).toEqual(newer);
  });

  it('counts environments whose credentials were refused within five minutes, though two are at once', async () => {
    await canaries().noteCredentials('e-0', T0 - 5 * MINUTE);
    const counts = await Promise.all(['e-1', 'e-2'].map((id) => canaries().noteCredentials(id, T0)));

    expect(Math.max(...counts)).toBe(2);
    expect(await canaries().noteCredentials('e-3', T0 + 1)).toBe(3);
    // The result and the booking stay as they were.
    expect(await canaries().newest()).toMatchObject({ beganAt: T0 + 5 });
  });
});

describe('the sweeper’s trace', () => {
  const sweepStates = () => createSweepStates(table.client, table.tableName);

  it('is none before the first pass', async () => {
    expect(await sweepStates().lastPassAt()).toBeUndefined();
  });

  it('is the last pass, and never goes back', async () => {
    await sweepStates().passed(T0 + MINUTE);
    await sweepStates().passed(T0);

    expect(await sweepStates().lastPassAt()).toBe(T0 + MINUTE);
  });

  it('keeps the beginning and the progress of a round until one is complete', async () => {
    await sweepStates().keepRound(T0 + 2 * MINUTE, T0 + 3 * MINUTE);
    await sweepStates().keepRound(T0 + 2 * MINUTE, undefined);
    expect([await sweepStates().openRound(), await sweepStates().roundProgressAt()]).toEqual([T0 + 2 * MINUTE, T0 + 3 * MINUTE]);

    await sweepStates().passed(T0 + 4 * MINUTE);
    expect([await sweepStates().openRound(), await sweepStates().roundProgressAt()]).toEqual([undefined, undefined]);
  });
});

describe('a dispatch whose mails are refused', () => {
  const clock = createFakeClock();
  const dispatches = () => createDispatchRepository({ client: table.client, tableName: table.tableName, clock: clock.now });
  const stop = { reason: 'permanent-failures', faultCode: 'BAD_REQUEST', faultSince: T0 } as const;

  it.each<[Dispatch['status'], boolean]>([
    ['ACCEPTED', true],
    ['IN_PROGRESS', true],
    ['COMPLETED', false],
    ['STOPPED', false],
    ['CANCELLED', false],
  ])('is counted and stopped while it is %s: %o', async (status, stops) => {
    const dispatch = await putDispatch(aDispatch({ dispatchId: `refused-${status}`, status, generation: 2 }));
    const before = await get(dispatchKey(dispatch.dispatchId));

    const added = [
      await dispatches().addRefused(dispatch.dispatchId, 3),
      await dispatches().addRefused(dispatch.dispatchId, 4),
    ].map((each) => each?.refused);
    expect(added).toEqual(stops ? [3, 7] : [undefined, undefined]);

    expect(await dispatches().stop(dispatch, stop, T0 + MINUTE)).toBe(stops);
    const after = await get(dispatchKey(dispatch.dispatchId));
    const stopped = {
      status: 'STOPPED',
      failureReason: 'permanent-failures',
      faultCode: 'BAD_REQUEST',
      faultSince: '2026-03-02T09:00:00.000Z',
      stoppedAt: '2026-03-02T09:01:00.000Z',
      refusedCount: 7,
    };
    expect(after).toEqual(stops ? { ...before, ...stopped } : before);
    expect(await dispatches().status(dispatch.dispatchId)).toBe(stops ? 'STOPPED' : status);
  });

  it('is stopped by one of ten who ask at once', async () => {
    const dispatch = await putDispatch(aDispatch({ dispatchId: 'refused-at-once' }));

    const stopped = await Promise.all(Array.from({ length: 10 }, () => dispatches().stop(dispatch, stop, T0)));

    expect(stopped.filter(Boolean)).toHaveLength(1);
  });

  it('is not stopped for what was read before it was resumed', async () => {
    const dispatch = await putDispatch(aDispatch({ dispatchId: 'refused-resumed' }), { resumedAt: toIso(T0 - 1) });

    expect(await dispatches().stop(dispatch, stop, T0)).toBe(false);
  });

  it('is stopped although a recipient was reopened meanwhile', async () => {
    const dispatch = await putDispatch(aDispatch({ dispatchId: 'refused-reopened', generation: 5 }));

    expect(await dispatches().stop({ ...dispatch, generation: 4 }, stop, T0)).toBe(true);
  });

  it('keeps nothing of an earlier stop', async () => {
    const dispatch = await putDispatch(aDispatch({ dispatchId: 'refused-again' }), {
      faultCode: 'OLD',
      faultSince: toIso(T0 - 1),
    });

    expect(await dispatches().stop(dispatch, { reason: 'stale' }, T0)).toBe(true);

    const item = await get(dispatchKey('refused-again'));
    expect(item).toMatchObject({ status: 'STOPPED', failureReason: 'stale' });
    expect(Object.keys(item ?? {}).filter((name) => name.startsWith('fault'))).toEqual([]);
  });

  it('is judged by the rows of all shards that became final since it was resumed', async () => {
    const resumedAt = T0 + MINUTE;
    const at = resumedAt + 1;
    const dispatch = await putDispatch(aDispatch({ dispatchId: 'rows', shards: 3, resumedAt }), { resumedAt: toIso(resumedAt) });
    await putRows(dispatch, [
      failed({ failedAt: resumedAt - 1, lastErrorCode: 'BEFORE' }),
      failed({ failedAt: at + 1 }),
      failed({ failedAt: at }),
      exhausted({ failedAt: at - 1 }),
      unknown({ failedAt: at }),
      sent({ sentAt: at }),
      sent({ sentAt: resumedAt - 1 }),
      pending(),
      processing(),
      cancelled,
    ]);

    expect(await dispatches().finalRows(dispatch)).toEqual({
      final: 5,
      refused: 2,
      codes: new Set(['MESSAGE_REJECTED']),
      since: at,
    });
  });
});

describe('a dispatch that a pass of the sweeper meets', () => {
  const dispatches = () =>
    createOpenDispatchRepository({
      client: table.client,
      tableName: table.tableName,
      openIndex: 'open',
      retentionDays: RETENTION_DAYS,
    });
  const rows = rowCounts({ SENT: 2, FAILED: 1 });

  it('is found while it is open, whatever its status', async () => {
    for (const status of ['STOPPED', 'CANCELLED', 'COMPLETED'] as const) {
      await putDispatch(aDispatch({ dispatchId: `open-${status}`, status }));
    }
    await putDispatch(aDispatch({ dispatchId: 'closed', status: 'COMPLETED' }), { openKey: undefined });

    const found = (await Array.fromAsync(dispatches().open())).map((each) => (each === 'unreadable' ? each : each.dispatchId));

    expect(found).toEqual(expect.arrayContaining(['open-STOPPED', 'open-CANCELLED', 'open-COMPLETED']));
    expect(found).not.toContain('closed');
  });

  it('shows since when rows are overdue by their state, and when its newest mail was taken', async () => {
    const dispatch = await putDispatch(aDispatch({ dispatchId: 'seen', shards: 2 }));
    await putRows(dispatch, [
      processing({ lease: { token: 'dead', until: T0 - 2 } }),
      pending({ nextAttemptAt: T0 - 1 }),
      pending({ nextAttemptAt: T0 + 1 }),
      sent({ sentAt: T0 - 7 }),
      sent({ sentAt: T0 - 9 }),
    ]);

    expect(await dispatches().rows(dispatch, T0, () => true)).toEqual({
      ...rowCounts({ PENDING: 2, PROCESSING: 1, SENT: 2 }),
      bounceStatistics: { sent: 2, bounced: 0, complained: 0 },
      overdueSince: { PROCESSING: T0 - 2, PENDING: T0 - 1 },
      newestSentAt: T0 - 7,
      newestOutcomeAt: expect.any(Number) as number,
    });
  });

  it('gives its overdue rows page by page, and remembers where the next pass goes on', async () => {
    const dispatch = await putDispatch(aDispatch({ dispatchId: 'overdue', shards: 2 }));
    await putRows(dispatch, [
      processing({ lease: { token: 'dead', until: T0 - 2 } }),
      pending({ nextAttemptAt: T0 - 1 }),
      pending({ nextAttemptAt: T0 + 1 }),
      sent(),
    ]);
    const key = (shard: number, applyId: string) => ({ dispatchId: 'overdue', shard, applyId });

    const first = await dispatches().overdueRows(dispatch, ['PENDING', 'PROCESSING'], { until: T0, shard: 0 });
    expect(first).toEqual({
      rows: [{ key: key(0, 'a-0'), since: T0 - 2, status: 'PROCESSING' }],
      next: { until: T0, shard: 1 },
    });
    expect(await dispatches().overdueRows(dispatch, ['PENDING'], { until: T0, shard: 1, after: 'a-0' })).toEqual({
      rows: [{ key: key(1, 'a-1'), since: T0 - 1, status: 'PENDING' }],
    });
    const found = async () =>
      (await Array.fromAsync(dispatches().open())).find((each) => each !== 'unreadable' && each.dispatchId === 'overdue');
    await dispatches().keepRequeue('overdue', { until: T0, shard: 1, after: 'a-1' });
    expect(await found()).toMatchObject({ requeueFrom: { until: T0, shard: 1, after: 'a-1' } });
    await dispatches().keepRequeue('overdue', undefined);
    expect(await found()).not.toHaveProperty('requeueFrom');
  });

  it('has the tasks that are not done', async () => {
    const pk = 'DISPATCH#tasks';
    await put({ pk, sk: 'TASK#0001', state: 'done' });
    await put({ pk, sk: 'TASK#0002', state: 'open' });
    await put({ pk, sk: 'TASK#0010', state: 'open' });

    expect(await dispatches().tasks('tasks')).toEqual([
      { dispatchId: 'tasks', task: 2 },
      { dispatchId: 'tasks', task: 10 },
    ]);
  });

  it('is completed, and says whether a person should look', async () => {
    const dispatch = await putDispatch(aDispatch({ dispatchId: 'completed', status: 'IN_PROGRESS' }));

    expect(await dispatches().complete(dispatch, rows, T0)).toBe(true);

    const item = await get(dispatchKey('completed'));
    expect(item).toMatchObject({
      status: 'COMPLETED',
      outcome: 'partly-sent',
      needsAttention: true,
      completedAt: toIso(T0),
      ...rows,
    });
    // The sweeper closes it.
    expect(item).toMatchObject({ openKey: OPEN });
    expect(await get(contentKey('completed'))).toMatchObject({ expiresAt: EXPIRY });
  });

  it('is settled when it was completed before, and keeps its time', async () => {
    const completed = { dispatchId: 'recounted', status: 'COMPLETED', generation: 1 } as const;
    const dispatch = await putDispatch(aDispatch(completed), {
      completedAt: toIso(T0 - MINUTE),
      outcome: 'none-sent',
      needsAttention: true,
    });

    expect(await dispatches().settle(dispatch, rowCounts({ SENT: 3 }), T0, true)).toBe(true);

    const item = await get(dispatchKey('recounted'));
    expect(item).toMatchObject({
      status: 'COMPLETED',
      outcome: 'all-sent',
      needsAttention: false,
      completedAt: toIso(T0 - MINUTE),
      counts: someCounts({ SENT: 3 }),
      sweptAt: toIso(T0),
      sweptGeneration: 1,
    });
    expect(item).not.toHaveProperty('openKey');
    expect(await get(contentKey('recounted'))).not.toHaveProperty('expiresAt');
  });

  it.each<[string, Record<string, unknown>]>([
    ['progress counted', { countsVersion: 4 }],
    ['a row changed', { generation: 2 }],
    ['a task was begun', { tasks: 1 }],
  ])('is not settled when %s meanwhile', async (what, more) => {
    const read = aDispatch({ dispatchId: `unsettled ${what}`, status: 'COMPLETED', generation: 1, countsVersion: 3 });
    await putDispatch(read, more);

    expect(await dispatches().settle(read, rows, T0, true)).toBe(false);
    expect(await get(dispatchKey(read.dispatchId))).toMatchObject({ openKey: OPEN });

    await putDispatch(read);
    expect(await dispatches().settle(read, rows, T0, false)).toBe(true);
    expect(await get(dispatchKey(read.dispatchId))).toMatchObject({ openKey: OPEN, ...rows });
    expect(await dispatches().settle(read, rows, T0, true)).toBe(true);
    expect(await get(dispatchKey(read.dispatchId))).toMatchObject({ openKey: ATTENTION });
  });

  it.each<[Dispatch['status'], boolean, boolean]>([
    ['ACCEPTED', true, false],
    ['IN_PROGRESS', true, false],
    ['COMPLETED', false, false],
    ['STOPPED', false, false],
    ['CANCELLED', false, true],
  ])('that is %s is completed: %o, or closed: %o', async (status, completes, closes) => {
    const toComplete = await putDispatch(aDispatch({ dispatchId: `complete-${status}`, status }));
    const toClose = await putDispatch(aDispatch({ dispatchId: `close-${status}`, status }));

    expect(await dispatches().complete(toComplete, rows, T0)).toBe(completes);
    expect(await dispatches().close(toClose, rows, T0)).toBe(closes);

    expect((await get(dispatchKey(toComplete.dispatchId)))?.['openKey']).toBe(OPEN);
    expect((await get(dispatchKey(toClose.dispatchId)))?.['openKey']).toBe(OPEN);
  });

  it('is closed with its counts, and its content expires', async () => {
    const dispatch = await putDispatch(aDispatch({ dispatchId: 'cancelled', status: 'CANCELLED' }));

    expect(await dispatches().close(dispatch, rowCounts({ SENT: 1, CANCELLED: 2 }), T0)).toBe(true);

    const item = await get(dispatchKey('cancelled'));
    expect(item).toMatchObject({ status: 'CANCELLED', needsAttention: false, counts: { SENT: 1, CANCELLED: 2 }, openKey: OPEN });
    expect(await get(contentKey('cancelled'))).toMatchObject({ expiresAt: EXPIRY });
  });

  it('is closed again when a row changed, its content living no longer, and even without content', async () => {
    const dispatch = await putDispatch(aDispatch({ dispatchId: 'closed-again', status: 'CANCELLED' }));
    await put({ ...contentKey('closed-again'), expiresAt: EXPIRY - 1 });
    const gone = { ...dispatch, dispatchId: 'without-content' };
    await put({ ...dispatchKey(gone.dispatchId), status: 'CANCELLED', generation: 0, openKey: OPEN, createdKey: 'c' });

    expect(await dispatches().close(dispatch, rows, T0)).toBe(true);
    expect(await dispatches().close(gone, rows, T0)).toBe(true);

    expect(await get(contentKey('closed-again'))).toMatchObject({ expiresAt: EXPIRY - 1 });
    expect(await get(dispatchKey(gone.dispatchId))).toMatchObject({ needsAttention: true, openKey: OPEN });
    expect(await get(contentKey(gone.dispatchId))).toBeUndefined();
  });

  it.each(['complete', 'close'] as const)('is not finished by %s on what was read before a row changed (Q9)', async (finish) => {
    const status = finish === 'close' ? 'CANCELLED' : 'IN_PROGRESS';
    const dispatch = await putDispatch(aDispatch({ dispatchId: `changed-${finish}`, status, generation: 3 }));

    expect(await dispatches()[finish]({ ...dispatch, generation: 2 }, rows, T0)).toBe(false);
    expect(await get(dispatchKey(dispatch.dispatchId))).toMatchObject({ status, openKey: OPEN });
  });

  it('is counted anew as long as progress has not counted meanwhile', async () => {
    const dispatch = await putDispatch(aDispatch({ dispatchId: 'mended', total: 5 }), { countsVersion: 4 });

    expect(await dispatches().recount({ ...dispatch, countsVersion: 3 }, rows, T0)).toBe(false);
    expect(await dispatches().recount({ ...dispatch, countsVersion: 4 }, rows, T0)).toBe(true);

    const found = await get(dispatchKey(dispatch.dispatchId));
    expect(found).toMatchObject({ counts: { SENT: 2, FAILED: 1, PENDING: 2 }, lastProgressAt: toIso(T0) });
  });

  it('is stopped when it is stale, and stays open', async () => {
    const dispatch = await putDispatch(aDispatch({ dispatchId: 'stale' }));

    expect(await dispatches().stop(dispatch, { reason: 'stale' }, T0)).toBe(true);

    expect(await get(dispatchKey('stale'))).toMatchObject({ status: 'STOPPED', failureReason: 'stale', openKey: OPEN });
  });
});
