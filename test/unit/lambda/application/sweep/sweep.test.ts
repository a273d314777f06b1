import { describe, expect, it } from 'vitest';

import type {
  OpenDispatchRepository,
  OverdueRow,
  RowsSeen,
  SweepState,
} from '../../../../../lambda/application/ports/progress.ts';
import type { SendQueue } from '../../../../../lambda/application/ports/queues.ts';
import { createSweep, type SweepDeps } from '../../../../../lambda/application/sweep/sweep.ts';
import type { Counts, Dispatch } from '../../../../../lambda/domain/dispatch/dispatch.ts';
import { NO_BOUNCE_STATISTICS } from '../../../../../lambda/domain/dispatch/stop-rule.ts';
import type { Sending } from '../../../../../lambda/domain/sending/pause.ts';
import { aDispatch, aKey, rowCounts, someCounts } from '../../../../support/builders.ts';
import { createFakeClock, T0 } from '../../../../support/clock.ts';
import { createFakeSending } from '../../../../support/fake-control.ts';
import { createFakeFeedback } from '../../../../support/fake-feedback.ts';
import { createFakeLedger } from '../../../../support/fake-ledger.ts';

const MINUTE = 60_000;
/** Overdue rows that are read at once. */
const PAGE = 1_000;

interface Open {
  readonly dispatch: Dispatch & SweepState;
  readonly rows: RowsSeen;
  readonly overdue?: readonly OverdueRow[];
  /** Of ten recipients each. */
  readonly batches?: readonly number[];
  readonly tasks?: readonly number[];
}

/** A dispatch that was last looked at long ago, when it stood just as it stands now. */
const still = (counts: Partial<Counts>, overdue: number, dispatch: Partial<Dispatch & SweepState> = {}): Open => ({
  dispatch: {
    ...aDispatch({
      total: Object.values(counts).reduce((sum, n) => sum + n, 0),
      ...rowCounts(counts),
      lastProgressAt: T0 - 60 * MINUTE,
    }),
    sweptAt: T0 - 15 * MINUTE,
    ...dispatch,
  },
  rows: {
    ...rowCounts(counts),
    bounceStatistics: NO_BOUNCE_STATISTICS,
    overdueSince: overdue > 0 ? { PENDING: T0 - 30 * MINUTE } : {},
  },
  overdue: Array.from({ length: overdue }, (_, i) => ({
    key: aKey(`a-${i}`),
    since: T0 - 30 * MINUTE,
    status: 'PENDING' as const,
  })),
});

interface Options extends Pick<SweepDeps, 'firstSteps' | 'lastSteps'> {
  readonly depth?: number;
  readonly completes?: boolean;
  readonly settles?: boolean;
}

const sweepOver = (open: readonly Open[], { depth = 0, completes = true, settles = true, ...steps }: Options = {}) => {
  const sent: string[] = [];
  const expanded: number[] = [];
  const enqueuedTasks: number[] = [];
  const completed: string[] = [];
  const closed: string[] = [];
  const stopped: string[] = [];
  const clock = createFakeClock();
  const sending = createFakeSending();
  const feedback = createFakeFeedback();
  const ledger = createFakeLedger();
  const marks: number[] = [];
  const kept: (readonly [string, string | undefined])[] = [];
  const recounts: Pick<Dispatch, 'counts' | 'lastProgressAt'>[] = [];
  const looked: string[] = [];
  const time = { leftMs: 240_000, ofLookMs: 0 };
  const settled: { readonly counts: Counts; readonly isLast: boolean }[] = [];
  const at = (dispatchId: string) => open.find(({ dispatch }) => dispatch.dispatchId === dispatchId);
  const dispatches: OpenDispatchRepository = {
    async *open() {
      await Promise.resolve();
      for (const { dispatch } of open) yield dispatch;
    },
    batches: (dispatchId) => Promise.resolve((at(dispatchId)?.batches ?? []).map((batch) => ({ dispatchId, batch, count: 10 }))),
    rows: ({ dispatchId }) => {
      looked.push(dispatchId);
      time.leftMs -= time.ofLookMs;
      return Promise.resolve(
        at(dispatchId)?.rows ?? { ...rowCounts({}), bounceStatistics: NO_BOUNCE_STATISTICS, overdueSince: {} },
      );
    },
    mark: (_dispatchId, sweptAt) => {
      marks.push(sweptAt);
      return Promise.resolve();
    },
    recount: (_dispatch, { counts }, lastProgressAt) => {
      recounts.push({ counts, lastProgressAt });
      return Promise.resolve(true);
    },
    overdueRows: ({ dispatchId }, statuses, { until, shard, after }) => {
      const all = (at(dispatchId)?.overdue ?? []).filter(({ status, since }) => statuses.includes(status) && since <= until);
      const from = after === undefined ? 0 : Number(after);
      const next = { until, shard, after: String(from + PAGE) };
      return Promise.resolve({ rows: all.slice(from, from + PAGE), ...(from + PAGE < all.length && { next }) });
    },
    keepRequeue: (dispatchId, from) => {
      kept.push([dispatchId, from?.after ?? (from && '0')]);
      return Promise.resolve();
    },
    tasks: (dispatchId) => Promise.resolve((at(dispatchId)?.tasks ?? []).map((task) => ({ dispatchId, task }))),
    complete: ({ dispatchId }) => {
      completed.push(dispatchId);
      return Promise.resolve(completes);
    },
    close: ({ dispatchId }) => {
      closed.push(dispatchId);
      return Promise.resolve(true);
    },
    settle: (_dispatch, { counts }, _sweptAt, isLast) => {
      settled.push({ counts, isLast });
      return Promise.resolve(settles);
    },
    stop: ({ dispatchId }, { reason }) => {
      stopped.push(`${dispatchId} ${reason}`);
      return Promise.resolve(true);
    },
  };
  const queue: SendQueue = {
    send: (messages) => {
      sent.push(...messages.map(({ key }) => key.applyId));
      return Promise.resolve(messages.map(() => true));
    },
    hide: () => Promise.resolve(),
    depth: () => Promise.resolve(depth),
  };
  const sweep = createSweep({
    dispatches,
    sendQueue: queue,
    taskQueue: {
      expand: (keys) => {
        expanded.push(...keys.map(({ batch }) => batch));
        return Promise.resolve(keys.map(() => true));
      },
      enqueueTasks: (keys) => {
        enqueuedTasks.push(...keys.map(({ task }) => task));
        return Promise.resolve(keys.map(() => true));
      },
    },
    sending,
    sweeps: sending,
    feedback,
    ledger,
    clock: clock.now,
    stuckAfterMs: 10 * MINUTE,
    revisitMs: 15 * MINUTE,
    ...steps,
  });
  const pass = (situation: Partial<Parameters<typeof sweep>[0]> = {}) =>
    sweep({ atStart: false, remainingMs: () => time.leftMs, ...situation });
  return {
    pass,
    sent,
    expanded,
    enqueuedTasks,
    completed,
    settled,
    closed,
    stopped,
    marks,
    kept,
    recounts,
    looked,
    queue,
    clock,
    sending,
    feedback,
    ledger,
    time,
  };
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
    const moving = still({ PENDING: 400 }, 0, { dispatchId: 'other', lastProgressAt: T0 - MINUTE, sweptAt: T0 - MINUTE });
    const { pass, sent } = sweepOver([moving, still({ PENDING: 300 }, 300)], { depth: 400 });

    await pass();

    expect(sent).toHaveLength(300);
  });
});

describe('a dispatch', () => {
  it('that moves is left alone, however long its queue (O5)', async () => {
    const { dispatch, rows } = still({ PENDING: 49_000, SENT: 1_000 }, 49_000);
    const { pass, sent, marks, recounts } = sweepOver([
      { dispatch: { ...dispatch, counts: someCounts({ PENDING: 49_500, SENT: 500 }) }, rows },
    ]);

    await pass();

    expect(sent).toEqual([]);
    expect(recounts).toEqual([{ counts: rows.counts, lastProgressAt: T0 }]);
    expect(marks).toEqual([T0]);
  });

  it('that moved less than ten minutes ago is left alone', async () => {
    const { pass, sent } = sweepOver([still({ PENDING: 1, SENT: 2 }, 1, { lastProgressAt: T0 - 10 * MINUTE + 1 })]);

    await pass();

    expect(sent).toEqual([]);
  });

  it('that progress counts is not counted by the sweeper: what is still to come would be counted twice', async () => {
    const counted = { lastProgressAt: T0 - MINUTE, counts: someCounts({ PENDING: 3 }) };
    const { pass, recounts, marks } = sweepOver([still({ PENDING: 1, SENT: 2 }, 1, counted)]);

    await pass();

    expect(recounts).toEqual([]);
    expect(marks).toEqual([T0]);
  });

  it('gets its messages again while progress counts but late news of its mails, however wrong its counts are', async () => {
    const drifted = { countedAt: T0 - MINUTE, counts: someCounts({ PENDING: 2, SENT: 1 }) };
    const { pass, sent, recounts } = sweepOver([still({ PENDING: 1, SENT: 2 }, 1, drifted)]);

    await pass();

    expect(sent).toEqual(['a-0']);
    expect(recounts).toEqual([]);
  });

  it('whose rows have begun to expire is not counted: those would pass for pending', async () => {
    const { pass, sent, recounts } = sweepOver([still({ PENDING: 1, SENT: 1 }, 1, { total: 3 })]);

    await pass();

    expect(recounts).toEqual([]);
    expect(sent).toEqual(['a-0']);
  });

  it('without counts of deliveries is counted, though progress was there a moment ago', async () => {
    const { dispatch, rows } = still({ PENDING: 1, SENT: 2 }, 1, { lastProgressAt: T0 - MINUTE });
    const { deliveries, ...older } = dispatch;
    const { pass, recounts, sent } = sweepOver([{ dispatch: older, rows }]);

    await pass();

    expect(deliveries).toBeDefined();
    expect(recounts).toEqual([{ counts: rows.counts, lastProgressAt: T0 - MINUTE }]);
    expect(sent).toEqual([]);
  });

  it('is looked at no more than once in a quarter of an hour', async () => {
    const { pass, looked } = sweepOver([still({ PENDING: 1 }, 1, { sweptAt: T0 - 15 * MINUTE + 1 })]);

    await pass();

    expect(looked).toEqual([]);
  });

  it('is looked at when everything starts, since queues may be empty then', async () => {
    const { pass, sent } = sweepOver([still({ PENDING: 1, SENT: 2 }, 1, { sweptAt: T0, lastProgressAt: T0 })]);

    await pass({ atStart: true });

    expect(sent).toEqual(['a-0']);
  });

  it('that stands still gets the tasks of its left-over batches again', async () => {
    const { pass, expanded } = sweepOver([
      {
        ...still({ SENT: 47_000 }, 0, { total: 50_000, counts: someCounts({ SENT: 47_000, PENDING: 3_000 }) }),
        batches: [3, 4, 9],
      },
    ]);

    expect(await pass()).toMatchObject({ tasksSentAgain: 3 });
    expect(expanded).toEqual([3, 4, 9]);
  });

  it('that moves gets the tasks of its left-over batches again, too: the others may be sent for hours', async () => {
    const counts = someCounts({ SENT: 47_000, PENDING: 3_000 });
    const { pass, expanded } = sweepOver([
      { ...still({ SENT: 47_000 }, 0, { total: 50_000, counts, lastProgressAt: T0, countedAt: T0 }), batches: [3] },
    ]);

    await pass();

    expect(expanded).toEqual([3]);
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
    const { pass, sent, looked, time } = sweepOver([still({ PENDING: 1 }, 1), still({ PENDING: 1 }, 1, { dispatchId: 'later' })]);
    time.ofLookMs = 150_000;

    expect(await pass()).toMatchObject({ open: 2, finished: false });
    expect(looked).toEqual(['d1spatch']);
    expect(sent).toEqual(['a-0']);
  });

  it('over nothing does nothing', async () => {
    expect(await sweepOver([]).pass()).toEqual({
      paused: false,
      pauseStands: false,
      open: 0,
      unreadable: 0,
      failed: 0,
      completed: 0,
      stopped: 0,
      reEnqueued: 0,
      tasksSentAgain: 0,
      oldestPendingSeconds: 0,
      feedbackSilent: false,
      progressed: true,
      finished: true,
    });
  });

  it('leaves a trace when it is complete, and none when it is not', async () => {
    const whole = sweepOver([still({ PENDING: 1 }, 1)]);
    await whole.pass();
    expect(whole.sending.lastPass).toBe(T0);

    const cut = sweepOver([still({ PENDING: 1 }, 1)]);
    await cut.pass({ remainingMs: () => 0 });
    expect(cut.sending.lastPass).toBeUndefined();
  });

  describe('for which there are too many rows', () => {
    const three = ['a', 'b', 'c'].map((dispatchId, i) => still({ PENDING: 1 }, 0, { dispatchId, sweptAt: T0 - 60 * MINUTE + i }));
    /** Time for one dispatch a pass; each is due again at the next one. */
    const slowly = (open: Open[]) => {
      const world = sweepOver(open);
      world.time.ofLookMs = 150_000;
      const next = async () => {
        world.time.leftMs = 240_000;
        const report = await world.pass();
        const last = world.looked.at(-1);
        const at = open.findIndex(({ dispatch }) => dispatch.dispatchId === last);
        const seen = open[at];
        if (seen !== undefined) open[at] = { ...seen, dispatch: { ...seen.dispatch, sweptAt: world.clock.now() } };
        world.clock.advance(20 * MINUTE);
        return report.finished;
      };
      return { ...world, next };
    };

    it('goes on in the next one with those that wait longest, until all have been looked at', async () => {
      const { next, looked, sending } = slowly([...three]);

      expect([await next(), await next()]).toEqual([false, false]);
      expect(sending.lastPass).toBeUndefined();
      expect([await next(), looked]).toEqual([true, ['a', 'b', 'c']]);
      expect(sending.lastPass).toBe(T0 + 40 * MINUTE);
      expect(sending.round).toBeUndefined();
    });

    it('makes progress in each pass, so that a long round does not look like a dead sweeper', async () => {
      const { pass, time, sending } = sweepOver([...three]);
      time.ofLookMs = 150_000;

      expect(await pass()).toMatchObject({ progressed: true, finished: false });
      expect(sending).toMatchObject({ round: T0, roundProgress: T0 });
    });

    it('makes no progress when no dispatch could be inspected', async () => {
      const { pass, sending } = sweepOver([...three]);

      expect(await pass({ remainingMs: () => 0 })).toMatchObject({ progressed: false, finished: false });
      expect(sending.roundProgress).toBeUndefined();
    });

    it('begins anew after an outage: what was looked at before it says nothing now', async () => {
      const { next, clock, sending } = slowly([...three]);
      await next();
      await next();
      clock.advance(6 * 60 * MINUTE);

      expect([await next(), await next(), await next()]).toEqual([false, false, true]);
      expect(sending.round).toBeUndefined();
    });
  });

  it.each(['firstSteps', 'lastSteps'] as const)('takes its %s, paused or not, and goes on when one fails', async (steps) => {
    const done: number[] = [];
    const { pass, sending, sent } = sweepOver([still({ PENDING: 1 }, 1)], {
      [steps]: [
        () => Promise.reject(new Error('no answer')),
        (remainingMs: () => number) => {
          done.push(remainingMs());
          return Promise.resolve();
        },
      ],
    });

    expect(await pass()).toMatchObject({ failed: 1, reEnqueued: 1 });
    sending.state = { version: 1, pause: { by: 'operator', who: 'operator-1', since: T0 } };
    expect(await pass()).toMatchObject({ failed: 1, paused: true });
    expect([done, sent]).toEqual([[240_000, 240_000], ['a-0']]);
  });

  it('does nothing while sending is paused, and leaves no trace (O5)', async () => {
    const { pass, sent, looked, sending } = sweepOver([still({ PENDING: 1 }, 1)]);
    sending.state = { version: 1, pause: { by: 'operator', who: 'operator-1', since: T0 - 24 * 60 * MINUTE } };

    expect(await pass()).toMatchObject({ paused: true, pauseStands: true, reEnqueued: 0 });
    expect([sent, looked, sending.lastPass]).toEqual([[], [], undefined]);
  });

  it('goes on when a pause may be probed: somebody must get a message to probe with', async () => {
    const { pass, sent, sending } = sweepOver([still({ PENDING: 1 }, 1)]);
    sending.state = {
      version: 1,
      pause: { by: 'service', code: 'CODE', since: T0 - 2 * MINUTE, until: T0 - MINUTE, seconds: 60 },
    };

    await pass();

    expect(sent).toEqual(['a-0']);
  });

  it('leaves its trace though the queue does not tell its depth', async () => {
    const { pass, sending, queue } = sweepOver([still({ PENDING: 1 }, 1)]);
    queue.depth = () => Promise.reject(new Error('no answer'));

    await expect(pass()).rejects.toThrow();
    expect(sending.lastPass).toBe(T0);
  });

  it('looks at a stopped dispatch once an hour', async () => {
    const hour = { status: 'STOPPED', sweptAt: T0 - 60 * MINUTE } as const;
    const early = sweepOver([still({ PENDING: 1 }, 1, { ...hour, sweptAt: T0 - 60 * MINUTE + 1 })]);
    const due = sweepOver([still({ PENDING: 1 }, 1, hour)]);

    await Promise.all([early.pass(), due.pass()]);

    expect([early.looked, due.looked]).toEqual([[], ['d1spatch']]);
  });

  it('does nothing while the table does not tell whether sending is paused', async () => {
    const { pass, looked, sending } = sweepOver([still({ PENDING: 1 }, 1)]);
    sending.outage = true;

    expect(await pass()).toMatchObject({ finished: false });
    expect(looked).toEqual([]);
  });
});

describe('a dispatch that is not being sent', () => {
  it('if stopped, gets messages for what is under way alone, and is not completed', async () => {
    const {
      dispatch,
      rows,
      overdue = [],
    } = still({ PENDING: 2, PROCESSING: 1 }, 2, {
      status: 'STOPPED',
      sweptAt: T0 - 60 * MINUTE,
    });
    const underWay = { key: aKey('under-way'), since: T0 - 30 * MINUTE, status: 'PROCESSING' as const };
    const overdueSince = { ...rows.overdueSince, PROCESSING: underWay.since };
    const { pass, sent } = sweepOver([{ dispatch, rows: { ...rows, overdueSince }, overdue: [...overdue, underWay] }]);

    await pass();

    expect(sent).toEqual(['under-way']);
  });

  it('if stopped, stays stopped though all its rows are final', async () => {
    const { pass, completed, closed } = sweepOver([still({ SENT: 2 }, 0, { status: 'STOPPED' })]);

    await pass();

    expect([completed, closed]).toEqual([[], []]);
  });

  it('if cancelled, gets messages for its pending rows, which are cancelled by them (Q9)', async () => {
    const { pass, sent } = sweepOver([still({ PENDING: 1, SENT: 2 }, 1, { status: 'CANCELLED' })]);

    await pass();

    expect(sent).toEqual(['a-0']);
  });

  it('if cancelled, is looked at no more once all its rows are final', async () => {
    const { pass, closed } = sweepOver([still({ CANCELLED: 1, SENT: 2 }, 0, { status: 'CANCELLED' })]);

    await pass();

    expect(closed).toEqual(['d1spatch']);
  });

  it('has its unfinished tasks sent again', async () => {
    const { pass, enqueuedTasks } = sweepOver([{ ...still({ PENDING: 3 }, 0, { status: 'CANCELLED' }), tasks: [1, 2] }]);

    expect(await pass()).toMatchObject({ tasksSentAgain: 2 });
    expect(enqueuedTasks).toEqual([1, 2]);
  });
});

describe('a dispatch of whose mails too many bounced', () => {
  it('is stopped, if progress has not done so', async () => {
    const { dispatch, rows } = still({ PENDING: 40, SENT: 60 }, 40);
    const { pass, stopped, sent } = sweepOver([
      { dispatch, rows: { ...rows, bounceStatistics: { sent: 60, bounced: 11, complained: 0 } } },
    ]);

    expect(await pass()).toMatchObject({ stopped: 1 });
    expect(stopped).toEqual(['d1spatch high-bounce-rate']);
    expect(sent).toEqual([]);
  });

  it('is stopped for complaints too', async () => {
    const { dispatch, rows } = still({ PENDING: 40, SENT: 60 }, 40);
    const bounceStatistics = { sent: 60, bounced: 0, complained: 6 };
    const { pass, stopped } = sweepOver([{ dispatch, rows: { ...rows, bounceStatistics } }]);

    await pass();

    expect(stopped).toEqual(['d1spatch high-complaint-rate']);
  });

  it('is completed if nothing of it is left to be stopped', async () => {
    const { dispatch, rows } = still({ SENT: 60 }, 0);
    const { pass, stopped, completed } = sweepOver([
      { dispatch, rows: { ...rows, bounceStatistics: { sent: 60, bounced: 11, complained: 0 } } },
    ]);

    await pass();

    expect([stopped, completed]).toEqual([[], ['d1spatch']]);
  });

  it('is not stopped either when it could not be completed since a row changed meanwhile', async () => {
    const { dispatch, rows } = still({ SENT: 60 }, 0);
    const statistics = { bounceStatistics: { sent: 60, bounced: 11, complained: 0 } };
    const { pass, stopped, completed } = sweepOver([{ dispatch, rows: { ...rows, ...statistics } }], { completes: false });

    await pass();

    expect([stopped, completed]).toEqual([[], ['d1spatch']]);
  });
});

describe('a dispatch that is long overdue', () => {
  const DAY = 24 * 60 * MINUTE;
  const LONG_AGO = T0 - 3 * DAY;
  /** As a snapshot of three days ago has it: half-way, and last visited a while before that. */
  const restored: Open = {
    dispatch: {
      ...aDispatch({ total: 3, counts: someCounts({ PENDING: 2, SENT: 1 }), createdAt: LONG_AGO - MINUTE }),
      sweptAt: LONG_AGO,
      lastProgressAt: LONG_AGO,
    },
    rows: {
      ...rowCounts({ PENDING: 1, SENT: 2 }),
      bounceStatistics: NO_BOUNCE_STATISTICS,
      overdueSince: { PENDING: LONG_AGO },
      newestSentAt: LONG_AGO,
      newestOutcomeAt: LONG_AGO,
    },
  };
  const but = (dispatch: Partial<Open['dispatch']>, rows: Partial<RowsSeen> = {}): Open => ({
    dispatch: { ...restored.dispatch, ...dispatch },
    rows: { ...restored.rows, ...rows },
  });

  it('after an outage or a restore is stopped, so that a person decides (U8)', async () => {
    const { pass, sent, stopped, sending } = sweepOver([restored]);
    sending.lastPass = T0 - 2 * DAY;

    expect(await pass()).toMatchObject({ stopped: 1, reEnqueued: 0 });
    expect(stopped).toEqual(['d1spatch stale']);
    expect(sent).toEqual([]);
  });

  it('while batches of it are left is stopped as well', async () => {
    const { pass, stopped, expanded } = sweepOver([{ ...but({}, { overdueSince: {} }), batches: [0] }]);

    await pass();

    expect([stopped, expanded]).toEqual([['d1spatch stale'], []]);
  });

  it.each<[string, Open, Partial<Sending>]>([
    ['the sweeper looked at it within a day', but({ sweptAt: T0 - DAY + MINUTE }), {}],
    ['it was paused over the weekend (U8)', restored, { resumedAt: T0 - 5 * MINUTE }],
    [
      'a pause of the service stood until a moment ago (S9)',
      restored,
      { pause: { by: 'service', code: 'C', since: LONG_AGO, until: T0 - 1_000, seconds: 600 } },
    ],
    ['one of its mails went out within a day', but({}, { newestOutcomeAt: T0 - DAY + MINUTE }), {}],
    ['it was resumed within a day', but({ resumedAt: T0 - DAY + MINUTE }), {}],
    ['it has been due for less than a day', but({}, { overdueSince: { PENDING: T0 - DAY + MINUTE } }), {}],
  ])('is not stale when %s', async (_name, open, state) => {
    const { pass, stopped, sending } = sweepOver([open]);
    sending.state = { version: 2, ...state };

    await pass();

    expect(stopped).toEqual([]);
  });
});

describe('a dispatch that is finished', () => {
  const HOUR = 60 * MINUTE;
  const finished = (dispatch: Partial<Open['dispatch']> = {}, status: 'COMPLETED' | 'CANCELLED' = 'COMPLETED'): Open => {
    const ended = status === 'COMPLETED' ? { completedAt: T0 - HOUR } : { lastProgressAt: T0 - HOUR };
    const { dispatch: open, rows } = still({ SENT: 2 }, 0, {
      status,
      needsAttention: false,
      generation: 2,
      ...ended,
      ...dispatch,
    });
    return { dispatch: open, rows };
  };
  const visited = (sweptAt: number, more: Partial<Open['dispatch']> = {}): Open =>
    finished({ sweptAt, sweptGeneration: 2, ...more });

  it.each(['COMPLETED', 'CANCELLED'] as const)(
    'and %s is counted once more and closed, and counts as completed no more',
    async (status) => {
      const { pass, settled, completed, closed } = sweepOver([finished({}, status)]);

      expect(await pass()).toMatchObject({ completed: 0, open: 0 });
      expect(settled).toEqual([{ counts: someCounts({ SENT: 2 }), isLast: true }]);
      expect([completed, closed]).toEqual([[], []]);
    },
  );

  it.each<[string, Open, boolean]>([
    ['ten minutes after its end', finished({ completedAt: T0 - 10 * MINUTE }), true],
    ['not before: most of its events are still to come', finished({ completedAt: T0 - 10 * MINUTE + 1 }), false],
    ['though it was visited while it was sent', finished({ sweptAt: T0 - HOUR - 1, sweptGeneration: 2 }), true],
    ['not again within a quarter of an hour', visited(T0 - 15 * MINUTE + 1), false],
    ['again after a quarter of an hour', visited(T0 - 15 * MINUTE), true],
    ['at once when a row of it has changed', visited(T0 - 1, { generation: 3 }), true],
    ['at once when a task was begun', visited(T0 - 1, { tasks: 1 }), true],
    [
      'not again within three hours, twelve hours after its end',
      visited(T0 - 3 * HOUR + 1, { completedAt: T0 - 15 * HOUR }),
      false,
    ],
    ['again after three hours, twelve hours after its end', visited(T0 - 3 * HOUR, { completedAt: T0 - 15 * HOUR }), true],
    ['again after six hours, however long ago its end', visited(T0 - 6 * HOUR, { completedAt: T0 - 1_000 * HOUR }), true],
  ])('is looked at %s', async (_name, open, isDue) => {
    const { pass, looked } = sweepOver([open]);

    await pass();

    expect(looked).toEqual(isDue ? ['d1spatch'] : []);
  });

  it('is not closed before its time when everything starts', async () => {
    const { pass, settled } = sweepOver([finished({ completedAt: T0 - MINUTE })]);

    await pass({ atStart: true });

    expect(settled).toMatchObject([{ isLast: false }]);
  });

  it('leaves a mark though something happened while it was looked at, so that it is not looked at on every pass', async () => {
    const { pass, marks } = sweepOver([finished()], { settles: false });

    await pass();

    expect(marks).toEqual([T0]);
  });

  it('is looked at after those that are not', async () => {
    const { pass, looked } = sweepOver([
      finished({ dispatchId: 'old' }),
      finished({ dispatchId: 'older', sweptAt: T0 - 9 * HOUR }),
      still({ PENDING: 1 }, 0),
    ]);

    await pass();

    expect(looked).toEqual(['d1spatch', 'older', 'old']);
  });

  it('keeps no pass from being complete', async () => {
    const { pass, looked, sending, time } = sweepOver([finished({ dispatchId: 'old' }), still({ PENDING: 1 }, 0)]);
    time.ofLookMs = 235_000;

    expect(await pass()).toMatchObject({ finished: true });
    expect(looked).toEqual(['d1spatch']);
    expect(sending.lastPass).toBe(T0);
  });

  it('is looked at while sending is paused as well, since nothing of it is sent', async () => {
    const { pass, settled, sending } = sweepOver([finished(), still({ PENDING: 1 }, 1)]);
    sending.state = { version: 1, pause: { by: 'operator', who: 'operator-1', since: T0 - MINUTE } };

    expect(await pass()).toMatchObject({ paused: true, reEnqueued: 0 });
    expect(settled).toHaveLength(1);
    expect(sending.lastPass).toBeUndefined();
  });

  it('keeps its counts when some of its rows have expired', async () => {
    const counts = someCounts({ SENT: 3 });
    const { pass, settled } = sweepOver([finished({ total: 3, counts })]);

    await pass();

    expect(settled).toMatchObject([{ counts }]);
  });

  it.each(['COMPLETED', 'CANCELLED'] as const)(
    'and %s stays open while a task of it is not done, which is sent again',
    async (status) => {
      const { pass, enqueuedTasks, looked, marks } = sweepOver([{ ...finished({}, status), tasks: [4] }]);

      expect(await pass()).toMatchObject({ tasksSentAgain: 1 });
      expect(enqueuedTasks).toEqual([4]);
      expect([looked, marks]).toEqual([[], []]);
    },
  );
});

describe('mails that SES took and of which no event has come (U11)', () => {
  const withSent = (newestSentAt: number): Open => {
    const { dispatch, rows } = still({ SENT: 2, PENDING: 1 }, 0);
    return { dispatch, rows: { ...rows, newestSentAt } };
  };

  it.each([
    ['are told of when no event ever came', T0 - 30 * MINUTE, undefined, true],
    ['are told of when the last event is older', T0 - 30 * MINUTE, T0 - 60 * MINUTE, true],
    ['are not told of when the mark is a step behind the last mail', T0 - 30 * MINUTE, T0 - 31 * MINUTE, false],
    ['are not told of when events of later mails came', T0 - 30 * MINUTE, T0 - 20 * MINUTE, false],
    ['are given time', T0 - 9 * MINUTE, undefined, false],
  ])('%s', async (_name, sentAt, mark, silent) => {
    const { pass, feedback } = sweepOver([withSent(sentAt)]);
    if (mark !== undefined) await feedback.moveWatermark(mark);

    expect(await pass()).toMatchObject({ feedbackSilent: silent });
  });

  it('are told of by every pass until an event comes, though there is nothing to visit any more', async () => {
    const completed = withSent(T0 - 30 * MINUTE);
    const open = [
      { ...completed, dispatch: { ...completed.dispatch, status: 'COMPLETED' as const, completedAt: T0 - 20 * MINUTE } },
    ];
    const { pass, feedback } = sweepOver(open);
    const reports = [await pass()];
    open.pop();
    reports.push(await pass());
    await feedback.moveWatermark(T0 - 30 * MINUTE);
    reports.push(await pass());

    expect(reports.map(({ feedbackSilent }) => feedbackSilent)).toEqual([true, true, false]);
  });
});
