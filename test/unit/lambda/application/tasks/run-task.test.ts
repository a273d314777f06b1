import { describe, expect, it } from 'vitest';

import type { SendQueue } from '../../../../../lambda/application/ports/queues.ts';
import type { StoredRecipient } from '../../../../../lambda/application/ports/recipients.ts';
import type { OpenTask } from '../../../../../lambda/application/ports/tasks.ts';
import type { LeftBatchesDeps } from '../../../../../lambda/application/tasks/pending-batches.ts';
import { RowsUnfinishedError } from '../../../../../lambda/application/tasks/rows-unfinished.ts';
import { createRunTask, NO_ROWS } from '../../../../../lambda/application/tasks/run-task.ts';
import type { Dispatch } from '../../../../../lambda/domain/dispatch/dispatch.ts';
import type { Recipient, RecipientKey } from '../../../../../lambda/domain/recipient/recipient.ts';
import {
  aDispatch,
  aKey,
  aRecipient,
  DISPATCH_ID,
  failed,
  pending,
  processing,
  sent,
  unknown,
} from '../../../../support/builders.ts';
import { createFakeClock, T0 } from '../../../../support/clock.ts';
import { createFakeRecipients } from '../../../../support/fakes.ts';

const KEY = { dispatchId: DISPATCH_ID, task: 1 };
const cancelTask: OpenTask = { kind: 'cancel', requestedAt: T0, requestedBy: 'admin-1' };
const resumeTask: OpenTask = {
  kind: 'resume',
  requestedAt: T0 + 50,
  requestedBy: 'admin-1',
  faultCode: 'INVALID_PARAMETER',
  faultSince: T0,
};
const byFault = failed({ lastErrorCode: 'INVALID_PARAMETER', failedAt: T0 + 10 });

/** A task over pages of rows; a page that is a number has so many rows that nothing is to be done about. */
const world = (
  task: OpenTask | undefined,
  pages: readonly (readonly (readonly [string, Recipient])[])[],
  dispatch: Partial<Dispatch> = {},
) => {
  const clock = createFakeClock(T0 + 100);
  const recipients = createFakeRecipients(pages.flat().map(([id, row]) => [aKey(id), aRecipient(row, { applyId: id })]));
  const queued: { key: RecipientKey; delaySeconds: number }[] = [];
  const steps: string[] = [];
  const parts = new Map<string, readonly StoredRecipient[]>();
  const files: string[][] = [];
  let ids = 0;
  const state = {
    task,
    dispatch: aDispatch({ status: task?.kind === 'cancel' ? 'CANCELLED' : 'IN_PROGRESS', ...dispatch }),
    /** Whether the queue takes a message. */
    takes: true,
    broken: new Set<string>(),
    pagesRead: 0,
  };
  const sendQueue: Pick<SendQueue, 'send'> = {
    send: (messages) => {
      if (state.takes) queued.push(...messages);
      return Promise.resolve(messages.map(() => state.takes));
    },
  };
  const left = new Map<number, number>();
  const batchPorts: LeftBatchesDeps = {
    batches: {
      left: () => Promise.resolve([...left].map(([batch, count]) => ({ dispatchId: DISPATCH_ID, batch, count }))),
      drop: ({ batch }) => Promise.resolve(left.delete(batch)),
    },
    taskQueue: {
      expand: (keys) => {
        if (state.takes) expanded.push(...keys.map(({ batch }) => batch));
        return Promise.resolve(keys.map(() => state.takes));
      },
    },
  };
  const expanded: number[] = [];
  const enqueueTasks = createRunTask({
    tasks: {
      find: () => Promise.resolve(state.task),
      dispatch: () => Promise.resolve(state.dispatch),
      rows: (_dispatch, statuses, { shard }) => {
        state.pagesRead += 1;
        const rows = (pages[shard] ?? []).flatMap(([id]) => {
          const row = recipients.get(aKey(id));
          if (row === undefined || !statuses.includes(row.recipient.status)) return [];
          return [{ key: aKey(id), recipient: state.broken.has(id) ? ('broken' as const) : row.recipient }];
        });
        return Promise.resolve({ rows, ...(shard + 1 < pages.length && { next: { shard: shard + 1 } }) });
      },
      wholeRows: (_dispatch, statuses, { shard }) => {
        const rows = (pages[shard] ?? []).flatMap(([id]) => {
          const row = recipients.get(aKey(id));
          if (row === undefined || statuses?.includes(row.recipient.status) === false) return [];
          return [state.broken.has(id) ? ('broken' as const) : row];
        });
        return Promise.resolve({ rows, ...(shard + 1 < pages.length && { next: { shard: shard + 1 } }) });
      },
      advance: (_key, from, next, step, more) => {
        if (state.task === undefined || state.task.step !== from.step) return Promise.resolve(false);
        steps.push(step);
        state.task = next && { ...state.task, cursor: next, step, ...more };
        return Promise.resolve(true);
      },
    },
    recipients,
    ...batchPorts,
    exports: {
      putPart: (_key, part, rows) => {
        parts.set(part, rows);
        return Promise.resolve();
      },
      finish: (_key, names) => {
        files.push(names.flatMap((name) => (parts.get(name) ?? []).map(({ applyId }) => applyId)));
        return Promise.resolve();
      },
    },
    sendQueue: { ...sendQueue, hide: () => Promise.resolve(), depth: () => Promise.resolve(0) },
    clock: clock.now,
    newId: () => `id-${(ids += 1)}`,
    sleep: clock.sleep,
  });
  const statusOf = (id: string) => recipients.get(aKey(id))?.recipient.status;
  return {
    left,
    expanded,
    parts,
    files,
    run: (remainingMs = () => 60_000) => enqueueTasks(KEY, remainingMs),
    state,
    recipients,
    queued,
    statusOf,
    clock,
  };
};

describe('a task', () => {
  it('that is done, or gone, is left alone', async () => {
    const { run, state } = world(undefined, [[['a', pending()]]]);

    expect(await run()).toEqual({ outcome: 'nothing-left', ...NO_ROWS });
    expect(state.pagesRead).toBe(0);
  });

  it('goes through all pages, empty ones too, and is done then (U2)', async () => {
    const { run, state, statusOf } = world(cancelTask, [[['a', pending()]], [], [['b', sent()]], [['c', pending()]]]);

    expect(await run()).toEqual({ outcome: 'done', kind: 'cancel', ...NO_ROWS, cancelled: 2 });
    expect(state.task).toBeUndefined();
    expect([statusOf('a'), statusOf('b'), statusOf('c')]).toEqual(['CANCELLED', 'SENT', 'CANCELLED']);
  });

  it('goes on where it stood', async () => {
    const { run, statusOf } = world({ ...cancelTask, cursor: { shard: 1 } }, [[['a', pending()]], [['b', pending()]]]);

    expect((await run()).cancelled).toBe(1);
    expect([statusOf('a'), statusOf('b')]).toEqual(['PENDING', 'CANCELLED']);
  });

  it('stops after a page when time is short, and says that there is more', async () => {
    const { run, state } = world(cancelTask, [[['a', pending()]], [['b', pending()]]]);
    const remaining = [20_000, 14_000];

    expect(await run(() => remaining.shift() ?? 0)).toMatchObject({ outcome: 'more', cancelled: 1 });
    expect(state.task).toMatchObject({ cursor: { shard: 1 } });
    expect(await run()).toMatchObject({ outcome: 'done', cancelled: 1 });
  });

  it('is left to the other worker when two are at it', async () => {
    const { run, state, recipients, statusOf } = world(cancelTask, [[['a', pending()]], [['b', pending()]]]);
    const cancel = recipients.cancel.bind(recipients);
    Object.assign(recipients, {
      cancel: (...args: Parameters<typeof cancel>) => {
        // The other one has worked on the same page, and moves on.
        state.task = { ...cancelTask, cursor: { shard: 1 }, step: 'others' };
        return cancel(...args);
      },
    });

    expect(await run()).toMatchObject({ outcome: 'overtaken' });
    expect(state.task).toMatchObject({ cursor: { shard: 1 }, step: 'others' });
    expect(statusOf('b')).toBe('PENDING');
  });

  it('leaves a row that cannot be read, counts it and goes on', async () => {
    const { run, state, statusOf } = world(cancelTask, [
      [
        ['a', pending()],
        ['b', pending()],
      ],
    ]);
    state.broken.add('a');

    expect(await run()).toMatchObject({ outcome: 'done', cancelled: 1, broken: 1 });
    expect(statusOf('b')).toBe('CANCELLED');
  });
});

describe('batches that are not expanded yet', () => {
  it('are removed by a cancellation, and their recipients counted as cancelled', async () => {
    const { run, left, expanded } = world(cancelTask, [[['a', pending()]]]);
    left.set(0, 1_000).set(1, 500);

    expect((await run()).cancelled).toBe(1_501);
    expect([left.size, expanded]).toEqual([0, []]);
  });

  it('are sent again by a resume: an object may have been restored (V26)', async () => {
    const { run, left, expanded } = world(resumeTask, [[['a', pending()]]]);
    left.set(0, 1_000).set(3, 500);

    expect(await run()).toMatchObject({ outcome: 'done', enqueued: 1 });
    expect([left.size, expanded]).toEqual([2, [0, 3]]);
  });

  it('keep a resume from being done while the queue does not take their messages', async () => {
    const { run, left, state } = world(resumeTask, [[]]);
    left.set(0, 1_000);
    state.takes = false;

    await expect(run()).rejects.toThrow(RowsUnfinishedError);
    expect(state.task).toBeDefined();
  });
});

describe('cancelling', () => {
  it('leaves what is under way or final', async () => {
    const rows: [string, Recipient][] = [
      ['a', processing()],
      ['b', sent()],
      ['c', failed()],
      ['d', pending()],
    ];
    const { run, statusOf } = world(cancelTask, [rows]);

    await run();

    expect(rows.map(([id]) => statusOf(id))).toEqual(['PROCESSING', 'SENT', 'FAILED', 'CANCELLED']);
  });

  it('passes over a row that was claimed meanwhile', async () => {
    const { run, recipients, statusOf } = world(cancelTask, [[['a', pending()]]]);
    const row = recipients.get(aKey('a'));
    recipients.outage = (step, key) => {
      if (step === 'cancel' && row !== undefined) recipients.put(key, { ...row, recipient: processing() });
      return false;
    };

    expect(await run()).toMatchObject({ outcome: 'done', cancelled: 0 });
    expect(statusOf('a')).toBe('PROCESSING');
  });

  it('asks again when the table did not answer, and cancels each of many', async () => {
    const many = Array.from({ length: 45 }, (_, i): [string, Recipient] => [`a-${i}`, pending()]);
    const { run, recipients } = world(cancelTask, [many]);
    const unanswered = new Set(['a-3', 'a-30']);
    recipients.outage = (_step, { applyId }) => unanswered.delete(applyId);

    expect(await run()).toMatchObject({ outcome: 'done', cancelled: 45 });
  });

  it('fails when the table stays silent, so that the task comes again and no row is passed over', async () => {
    const { run, recipients, state } = world(cancelTask, [[['a', pending()]]]);
    recipients.outage = () => true;

    await expect(run()).rejects.toThrow(RowsUnfinishedError);
    expect(state.task).toEqual(cancelTask);
  });
});

describe('resuming', () => {
  it('reopens those that failed by the fault, and only those (S10)', async () => {
    const { run, recipients, statusOf } = world(resumeTask, [
      [
        ['a', byFault],
        ['b', failed({ lastErrorCode: 'MESSAGE_REJECTED', failedAt: T0 + 10 })],
        ['c', { ...byFault, failedAt: T0 + 60 }],
      ],
    ]);

    expect(await run()).toMatchObject({ outcome: 'done', reopened: 1, enqueued: 0 });
    expect(['a', 'b', 'c'].map(statusOf)).toEqual(['PENDING', 'FAILED', 'FAILED']);
    expect(recipients.get(aKey('a'))?.recipient).toEqual(
      pending({ round: 2, nextAttemptAt: T0 + 100, lastErrorCode: 'INVALID_PARAMETER' }),
    );
  });

  it('sends a message for each waiting row, to appear when it is due', async () => {
    const { run, queued } = world(resumeTask, [
      [
        ['a', pending({ nextAttemptAt: T0 })],
        ['b', pending({ nextAttemptAt: T0 + 100 + 4_100 })],
        ['c', processing()],
      ],
    ]);

    expect(await run()).toMatchObject({ outcome: 'done', enqueued: 2 });
    expect(queued).toEqual([
      { key: aKey('a'), delaySeconds: 0 },
      { key: aKey('b'), delaySeconds: 5 },
    ]);
  });

  it('reopens nothing when there was no fault in common', async () => {
    const { run } = world({ kind: 'resume', requestedAt: T0 + 50, requestedBy: 'op' }, [[['a', byFault]]]);

    expect(await run()).toMatchObject({ outcome: 'done', reopened: 0 });
  });

  it('does nothing in a dispatch that was cancelled since', async () => {
    const { run, state, statusOf, queued } = world(resumeTask, [[['a', byFault]], [['b', pending()]]], { status: 'CANCELLED' });

    expect(await run()).toEqual({ outcome: 'done', kind: 'resume', ...NO_ROWS });
    expect({ task: state.task, pagesRead: state.pagesRead, a: statusOf('a'), queued }).toEqual({
      task: undefined,
      pagesRead: 0,
      a: 'FAILED',
      queued: [],
    });
  });

  it('in a dispatch that was stopped again reopens all the same, since the next resume is about another fault', async () => {
    const rows: [string, Recipient][] = [
      ['a', byFault],
      ['b', pending()],
    ];
    const { run, queued } = world(resumeTask, [rows], { status: 'STOPPED' });

    expect(await run()).toMatchObject({ outcome: 'done', reopened: 1, enqueued: 0 });
    expect(queued).toEqual([]);
  });

  it('asks again for a row that collided with another write', async () => {
    const { run, recipients } = world(resumeTask, [[['a', byFault]]]);
    let collisions = 2;
    recipients.outage = (step) => step === 'reopen' && (collisions -= 1) >= 0;

    expect(await run()).toMatchObject({ outcome: 'done', reopened: 1 });
  });

  it.each<[string, Recipient | undefined]>([
    ['was reopened by somebody else', pending({ round: 2 })],
    ['failed again in a later round', { ...byFault, round: 2 }],
  ])('passes over a row that %s', async (_name, meanwhile) => {
    const { run, recipients } = world(resumeTask, [[['a', byFault]]]);
    Object.assign(recipients, {
      reopen: (key: RecipientKey) => {
        const row: StoredRecipient = aRecipient(meanwhile, { applyId: 'a' });
        recipients.put(key, row);
        return Promise.resolve('conflict');
      },
    });

    expect(await run()).toMatchObject({ outcome: 'done', reopened: 0 });
  });

  it.each(['unavailable', 'conflict'] as const)('fails when a row that failed as before stays %s', async (answer) => {
    const { run, recipients, state } = world(resumeTask, [[['a', byFault]]]);
    Object.assign(recipients, { reopen: () => Promise.resolve(answer) });

    await expect(run()).rejects.toThrow(RowsUnfinishedError);
    expect(state.task).toEqual(resumeTask);
  });

  it('fails when the queue takes no message, so that the page comes again', async () => {
    const { run, state } = world(resumeTask, [[['a', pending()]]]);
    state.takes = false;

    await expect(run()).rejects.toThrow(RowsUnfinishedError);
    expect(state.task).toEqual(resumeTask);
  });
});

describe('a retry', () => {
  const retryTask: OpenTask = { kind: 'retry', requestedAt: T0 + 50, requestedBy: 'admin-1', statuses: ['FAILED', 'UNKNOWN'] };

  it('begins another round of those that had failed, and of nobody else (U20)', async () => {
    const { run, recipients, statusOf } = world(retryTask, [
      [
        ['failed', failed({ failedAt: T0 + 10 })],
        ['unknown', unknown({ failedAt: T0 + 50 })],
      ],
      [
        ['failed-anew', failed({ failedAt: T0 + 51 })],
        ['sent', sent()],
        ['pending', pending()],
        ['processing', processing()],
      ],
    ]);

    expect(await run()).toEqual({ outcome: 'done', kind: 'retry', ...NO_ROWS, reopened: 2 });
    expect(recipients.get(aKey('failed'))?.recipient).toMatchObject({ status: 'PENDING', round: 2, attemptCount: 0 });
    expect(['unknown', 'failed-anew', 'sent', 'pending', 'processing'].map(statusOf)).toEqual([
      'PENDING',
      'FAILED',
      'SENT',
      'PENDING',
      'PROCESSING',
    ]);
  });

  it('of FAILED leaves UNKNOWN alone', async () => {
    const { run, statusOf } = world({ ...retryTask, statuses: ['FAILED'] }, [
      [
        ['a', failed()],
        ['b', unknown()],
      ],
    ]);

    expect(await run()).toMatchObject({ reopened: 1 });
    expect(['a', 'b'].map(statusOf)).toEqual(['PENDING', 'UNKNOWN']);
  });

  it('carried out twice reopens once', async () => {
    const { run, state, recipients } = world(retryTask, [[['a', failed()]]]);
    await run();
    state.task = retryTask;

    expect(await run()).toMatchObject({ outcome: 'done', reopened: 0 });
    expect(recipients.get(aKey('a'))?.recipient.round).toBe(2);
  });

  it('does nothing in a dispatch that was cancelled meanwhile', async () => {
    const { run, statusOf } = world(retryTask, [[['a', failed()]]], { status: 'CANCELLED' });

    expect(await run()).toMatchObject({ outcome: 'done', reopened: 0 });
    expect(statusOf('a')).toBe('FAILED');
  });
});

describe('settling all of whom nobody knows', () => {
  const word = { as: 'failed', note: 'not in the log' } as const;
  const settleTask: OpenTask = { kind: 'settle', requestedAt: T0 + 50, requestedBy: 'admin-1', word };

  it('writes down the word about those that were UNKNOWN when it was said, and about nobody else', async () => {
    const { run, recipients, statusOf } = world(settleTask, [
      [
        ['unknown', unknown({ failedAt: T0 + 50 })],
        ['failed', failed()],
      ],
      [
        ['unknown-since', unknown({ failedAt: T0 + 51 })],
        ['sent', sent()],
        ['pending', pending()],
        ['processing', processing()],
        ['unknown-too', unknown()],
      ],
    ]);

    expect(await run()).toEqual({ outcome: 'done', kind: 'settle', ...NO_ROWS, settled: 2 });
    for (const id of ['unknown', 'unknown-too']) {
      expect(recipients.get(aKey(id))).toMatchObject({
        recipient: { status: 'FAILED', lastErrorCode: 'SETTLED_BY_OPERATOR', failedAt: T0 + 100 },
        settled: { ...word, who: 'admin-1', at: T0 + 50 },
      });
    }
    const others = ['failed', 'unknown-since', 'sent', 'pending', 'processing'];
    expect(others.map(statusOf)).toEqual(['FAILED', 'UNKNOWN', 'SENT', 'PENDING', 'PROCESSING']);
    for (const id of others) expect(recipients.get(aKey(id))).not.toHaveProperty('settled');
  });

  it.each(['STOPPED', 'COMPLETED', 'CANCELLED'] as const)('works in a dispatch that is %s', async (status) => {
    const { run, statusOf } = world(settleTask, [[['a', unknown()]]], { status });

    expect(await run()).toMatchObject({ outcome: 'done', settled: 1 });
    expect(statusOf('a')).toBe('FAILED');
  });

  it('carried out twice settles once, and another word later finds nothing', async () => {
    const { run, state, recipients } = world(settleTask, [[['a', unknown()]]]);
    await run();
    const before = recipients.get(aKey('a'));
    for (const task of [settleTask, { ...settleTask, word: { as: 'sent', note: 'x' } as const }]) {
      state.task = task;
      expect(await run()).toMatchObject({ outcome: 'done', settled: 0 });
    }

    expect(recipients.get(aKey('a'))).toEqual(before);
  });

  it('leaves alone one that was sent again since it was read', async () => {
    const { run, recipients } = world(settleTask, [[['a', unknown()]]]);
    const { applyPatch } = { applyPatch: recipients.applyPatch.bind(recipients) };
    recipients.applyPatch = (key, change) => {
      recipients.put(key, aRecipient(unknown({ round: 2, failedAt: T0 + 60 }), { applyId: 'a' }));
      return applyPatch(key, change);
    };

    expect(await run()).toMatchObject({ settled: 0 });
    expect(recipients.get(aKey('a'))?.recipient.status).toBe('UNKNOWN');
  });

  it('comes again when the table does not answer', async () => {
    const { run, state, recipients } = world(settleTask, [[['a', unknown()]]]);
    recipients.outage = (step) => step === 'amend';

    await expect(run()).rejects.toThrow(RowsUnfinishedError);
    expect(state.task).toEqual(settleTask);
  });
});

describe('an export', () => {
  const exportTask: OpenTask = { kind: 'export', requestedAt: T0, requestedBy: 'admin-1' };
  const rows = (n: number) => Array.from({ length: n }, (_, i) => [[`r${i}`, sent()]] as const);

  it('has every recipient once, in parts of several pages', async () => {
    const { run, parts, files } = world(exportTask, rows(12));

    expect(await run()).toEqual({ outcome: 'done', kind: 'export', ...NO_ROWS, exported: 12 });
    expect([...parts.values()].map(({ length }) => length)).toEqual([5, 5, 2]);
    expect(files).toEqual([Array.from({ length: 12 }, (_, i) => `r${i}`)]);
  });

  it('goes on where it was, when time was short', async () => {
    const { run, files } = world(exportTask, rows(12));
    const times = [60_000, 1_000];

    expect(await run(() => times.shift() ?? 0)).toMatchObject({ outcome: 'more', exported: 5 });
    expect(await run()).toMatchObject({ outcome: 'done', exported: 7 });
    expect(files.map(({ length }) => length)).toEqual([12]);
  });

  it('leaves out what another worker wrote at the same place', async () => {
    const { run, state, parts, files } = world(exportTask, rows(6));
    const step = await run(() => (parts.size === 0 ? 60_000 : 0));
    const afterFirst = state.task;
    state.task = exportTask;
    await run(() => (parts.size === 1 ? 60_000 : 0));
    state.task = afterFirst;

    expect([step.outcome, (await run()).outcome]).toEqual(['more', 'done']);
    expect(parts.size).toBe(3);
    expect(files.at(-1)).toHaveLength(6);
  });

  it('of a state holds nobody else, and one of nobody is a file too', async () => {
    const { run, files } = world({ ...exportTask, statuses: ['FAILED'] }, [
      [
        ['a', failed()],
        ['b', sent()],
      ],
    ]);
    const none = world({ ...exportTask, statuses: ['UNKNOWN'] }, [[['a', sent()]]]);

    expect(await run()).toMatchObject({ outcome: 'done', exported: 1 });
    expect(files).toEqual([['a']]);
    expect(await none.run()).toMatchObject({ outcome: 'done', exported: 0 });
    expect(none.files).toEqual([[]]);
  });

  it('counts rows that cannot be read, and goes on', async () => {
    const { run, state, files } = world(exportTask, [
      [
        ['a', sent()],
        ['b', sent()],
      ],
    ]);
    state.broken.add('a');

    expect(await run()).toMatchObject({ outcome: 'done', exported: 1, broken: 1 });
    expect(files).toEqual([['b']]);
  });
});
