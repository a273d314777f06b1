import { describe, expect, it } from 'vitest';

import type { OpenDispatchRepository, RowsSeen, SweepMarks } from '../../../../lambda/application/ports.ts';
import { createSweep } from '../../../../lambda/application/sweep.ts';
import type { Counts, Dispatch } from '../../../../lambda/domain/dispatch.ts';
import { aDispatch, aKey, someCounts } from '../../../support/builders.ts';
import { createFakeClock, T0 } from '../../../support/clock.ts';

const MINUTE = 60_000;

interface Open {
  readonly dispatch: Dispatch & SweepMarks;
  readonly rows: RowsSeen;
  readonly batches?: readonly number[];
}

/** A dispatch that was last looked at long ago, when it stood just as it stands now. */
const still = (counts: Partial<Counts>, overdue: number, dispatch: Partial<Dispatch & SweepMarks> = {}): Open => ({
  dispatch: {
    ...aDispatch({
      total: Object.values(counts).reduce((sum, n) => sum + n, 0),
      counts: someCounts(counts),
      lastProgressAt: T0 - 60 * MINUTE,
    }),
    visitedAt: T0 - 15 * MINUTE,
    ...dispatch,
  },
  rows: {
    counts: someCounts(counts),
    overdue: Array.from({ length: overdue }, (_, i) => ({ key: aKey(`a-${i}`), since: T0 - 30 * MINUTE })),
  },
});

const sweepOver = (open: readonly Open[], { depth = 0, completes = true } = {}) => {
  const sent: string[] = [];
  const expanded: number[] = [];
  const completed: string[] = [];
  const marks: Parameters<OpenDispatchRepository['mark']>[1][] = [];
  const looked: string[] = [];
  const at = (dispatchId: string) => open.find(({ dispatch }) => dispatch.dispatchId === dispatchId);
  const dispatches: OpenDispatchRepository = {
    async *open() {
      await Promise.resolve();
      for (const { dispatch } of open) yield dispatch;
    },
    batches: (dispatchId) => Promise.resolve((at(dispatchId)?.batches ?? []).map((batch) => ({ dispatchId, batch }))),
    rows: ({ dispatchId }) => {
      looked.push(dispatchId);
      return Promise.resolve(at(dispatchId)?.rows ?? { counts: someCounts({}), overdue: [] });
    },
    mark: (_dispatchId, seen) => {
      marks.push(seen);
      return Promise.resolve();
    },
    complete: ({ dispatchId }) => {
      completed.push(dispatchId);
      return Promise.resolve(completes);
    },
  };
  const sweep = createSweep({
    dispatches,
    sendQueue: {
      send: (messages) => {
        sent.push(...messages.map(({ key }) => key.applyId));
        return Promise.resolve(messages.map(() => true));
      },
      hide: () => Promise.resolve(),
      depth: () => Promise.resolve(depth),
    },
    taskQueue: {
      expand: (keys) => {
        expanded.push(...keys.map(({ batch }) => batch));
        return Promise.resolve(keys.map(() => true));
      },
    },
    clock: createFakeClock().now,
    stillMs: 10 * MINUTE,
    visitMs: 15 * MINUTE,
  });
  const pass = (situation: Partial<Parameters<typeof sweep>[0]> = {}) =>
    sweep({ atStart: false, timeLeft: () => true, ...situation });
  return { pass, sent, expanded, completed, marks, looked };
};

describe('a recipient that is overdue in a dispatch that does not move', () => {
  it('gets its message again (O5)', async () => {
    const { pass, sent } = sweepOver([still({ PENDING: 1, SENT: 2 }, 1)]);

    expect(await pass()).toMatchObject({ open: 1, reEnqueued: 1, oldestPendingSeconds: 1_800, finished: true });
    expect(sent).toEqual(['a-0']);
  });

  it('gets none while the queue seems to hold them all, but for ten (O5)', async () => {
    const { pass, sent } = sweepOver([still({ PENDING: 50_000 }, 50_000)], { depth: 50_000 });

    await pass();

    expect(sent).toHaveLength(10);
  });

  it('gets one as far as the queue is missing them', async () => {
    const { pass, sent } = sweepOver([still({ PENDING: 300 }, 300)], { depth: 200 });

    await pass();

    expect(sent).toHaveLength(100);
  });

  it('is weighed against the open rows of all dispatches', async () => {
    const moving = still({ PENDING: 400 }, 0, { dispatchId: 'other', lastProgressAt: T0 - MINUTE, visitedAt: T0 - MINUTE });
    const { pass, sent } = sweepOver([moving, still({ PENDING: 300 }, 300)], { depth: 400 });

    await pass();

    expect(sent).toHaveLength(300);
  });
});

describe('a dispatch', () => {
  it('that moves is left alone, however long its queue (O5)', async () => {
    const { dispatch, rows } = still({ PENDING: 49_000, SENT: 1_000 }, 49_000);
    const { pass, sent, marks } = sweepOver([
      { dispatch: { ...dispatch, counts: someCounts({ PENDING: 49_500, SENT: 500 }) }, rows },
    ]);

    await pass();

    expect(sent).toEqual([]);
    expect(marks).toEqual([{ counts: rows.counts, lastProgressAt: T0, visitedAt: T0 }]);
  });

  it('that moved less than ten minutes ago is left alone', async () => {
    const { pass, sent } = sweepOver([still({ PENDING: 1, SENT: 2 }, 1, { lastProgressAt: T0 - 10 * MINUTE + 1 })]);

    await pass();

    expect(sent).toEqual([]);
  });

  it('is looked at no more than once in a quarter of an hour', async () => {
    const { pass, looked } = sweepOver([still({ PENDING: 1 }, 1, { visitedAt: T0 - 15 * MINUTE + 1 })]);

    await pass();

    expect(looked).toEqual([]);
  });

  it('is looked at when everything starts, since queues may be empty then', async () => {
    const { pass, sent } = sweepOver([still({ PENDING: 1, SENT: 2 }, 1, { visitedAt: T0, lastProgressAt: T0 })]);

    await pass({ atStart: true });

    expect(sent).toEqual(['a-0']);
  });

  it('that stands still gets the tasks of its left-over batches again', async () => {
    const { pass, expanded } = sweepOver([{ ...still({ SENT: 47_000 }, 0, { total: 50_000 }), batches: [3, 4, 9] }]);

    expect(await pass()).toMatchObject({ expandedAgain: 3 });
    expect(expanded).toEqual([3, 4, 9]);
  });

  it('whose rows are all final is completed', async () => {
    const { pass, completed, marks } = sweepOver([still({ SENT: 2, FAILED: 1 }, 0)]);

    expect(await pass()).toMatchObject({ completed: 1 });
    expect(completed).toEqual(['d1spatch']);
    expect(marks).toEqual([]);
  });

  it('that was reopened meanwhile does not count as completed', async () => {
    const { pass } = sweepOver([still({ SENT: 3 }, 0)], { completes: false });

    expect(await pass()).toMatchObject({ completed: 0 });
  });

  it.each<[string, Open]>([
    ['a batch is left (Q9)', { ...still({ SENT: 3 }, 0), batches: [3] }],
    ['rows are missing (U17)', still({ SENT: 3 }, 0, { total: 4 })],
    ['a row is under way', still({ SENT: 2, PROCESSING: 1 }, 0)],
  ])('is not completed while %s', async (_name, open) => {
    const { pass, completed } = sweepOver([open]);

    await pass();

    expect(completed).toEqual([]);
  });
});

describe('a pass', () => {
  it('goes on after a dispatch with nothing to do (U2)', async () => {
    const { pass, sent } = sweepOver([still({ PENDING: 1 }, 0, { dispatchId: 'idle' }), still({ PENDING: 1 }, 1)]);

    await pass();

    expect(sent).toEqual(['a-0']);
  });

  it('that runs out of time says so, after it put right what it found', async () => {
    let left = 1;
    const { pass, sent, looked } = sweepOver([still({ PENDING: 1 }, 1), still({ PENDING: 1 }, 1, { dispatchId: 'later' })]);

    const report = await pass({ timeLeft: () => left-- > 0 });

    expect(report.finished).toBe(false);
    expect(looked).toEqual(['d1spatch']);
    expect(sent).toEqual(['a-0']);
  });

  it('over nothing does nothing', async () => {
    expect(await sweepOver([]).pass()).toEqual({
      open: 0,
      unreadable: 0,
      failed: 0,
      completed: 0,
      reEnqueued: 0,
      expandedAgain: 0,
      oldestPendingSeconds: 0,
      finished: true,
    });
  });
});
