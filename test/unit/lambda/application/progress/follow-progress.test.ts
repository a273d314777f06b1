import { describe, expect, it } from 'vitest';

import { Unavailable } from '../../../../../lambda/application/ports/errors.ts';
import type { ProgressRepository, RowsSeen } from '../../../../../lambda/application/ports/progress.ts';
import {
  createFollowProgress,
  type ProgressRecord,
  type ProgressSignal,
} from '../../../../../lambda/application/progress/follow-progress.ts';
import type { Counts, Deliveries, Dispatch, RowCounts } from '../../../../../lambda/domain/dispatch/dispatch.ts';
import type { DispatchEvent } from '../../../../../lambda/domain/dispatch/dispatch-event.ts';
import { addRowCounts, type Counted } from '../../../../../lambda/domain/dispatch/progress.ts';
import { NO_BOUNCE_STATISTICS } from '../../../../../lambda/domain/dispatch/stop-rule.ts';
import { aDispatch, rowCounts } from '../../../../support/builders.ts';
import { createFakeClock, T0 } from '../../../../support/clock.ts';

type Stored = Dispatch & RowCounts;

interface Rows extends RowCounts {
  readonly batches?: number;
  readonly bounceStatistics?: RowsSeen['bounceStatistics'];
}

const NONE: Counted = { status: 'PENDING', delivery: 'none' };
const change = (from: Partial<Counted>, to: Partial<Counted>, dispatchId = 'd1'): ProgressRecord => ({
  kind: 'recipient',
  dispatchId,
  before: { ...NONE, ...from },
  after: { ...NONE, ...to },
});
const claim = (dispatchId = 'd1') => change({}, { status: 'PROCESSING' }, dispatchId);
const sent = (dispatchId = 'd1') => change({ status: 'PROCESSING' }, { status: 'SENT' }, dispatchId);
const bounced = () => change({ status: 'SENT' }, { status: 'SENT', delivery: 'bounced' });
const completed = (dispatchId: string): ProgressRecord => ({
  kind: 'dispatch',
  before: aDispatch({ dispatchId, status: 'IN_PROGRESS' }),
  after: aDispatch({ dispatchId, status: 'COMPLETED' }),
  at: T0,
});

const stored = (counts: Partial<Counts>, dispatch: Partial<Dispatch> = {}, deliveries: Partial<Deliveries> = {}): Stored => ({
  ...aDispatch({ dispatchId: 'd1', status: 'IN_PROGRESS', total: 3, ...dispatch }),
  ...rowCounts(counts, deliveries),
});

/** A table with these dispatches, and what their rows are whatever is counted. */
const createWorld = (dispatches: readonly Stored[], rows: Rows = rowCounts({ PENDING: 3 })) => {
  const items = new Map(dispatches.map((dispatch) => [dispatch.dispatchId, dispatch]));
  const done: string[] = [];
  const told: DispatchEvent[] = [];
  const signals: ProgressSignal[] = [];
  const clock = createFakeClock();
  const broken = {
    adding: '',
    error: new Unavailable('the table', 1) as Error,
    telling: '',
    looking: false,
    beginning: false,
    reopening: false,
    ending: false,
    meanwhile: (): unknown => undefined,
  };
  const note = (what: string) => (dispatch: Dispatch, counted: RowCounts | { readonly reason: string }) => {
    done.push(`${what} ${dispatch.dispatchId}${'reason' in counted ? ` ${counted.reason}` : ''}`);
    return Promise.resolve(what !== 'complete' || !broken.ending);
  };
  const repository: ProgressRepository = {
    add(dispatchId, delta, now) {
      if (dispatchId === broken.adding) return Promise.reject(broken.error);
      const item = items.get(dispatchId);
      if (item === undefined) return Promise.resolve(undefined);
      const dispatch = { ...item, ...addRowCounts(item, delta), lastProgressAt: now };
      items.set(dispatchId, dispatch);
      return Promise.resolve({ dispatch, openRows: dispatch.counts.PENDING + dispatch.counts.PROCESSING });
    },
    begin(dispatchId) {
      if (broken.beginning) return Promise.reject(new Error('no answer'));
      done.push(`begin ${dispatchId}`);
      return Promise.resolve();
    },
    isReopening: () => Promise.resolve(broken.reopening),
    find: (dispatchId) => {
      broken.meanwhile();
      return Promise.resolve(items.get(dispatchId));
    },
    batches: (dispatchId) =>
      Promise.resolve(Array.from({ length: rows.batches ?? 0 }, (_, batch) => ({ dispatchId, batch, count: 1 }))),
    rows(dispatch, _now, hasTime) {
      done.push(`look at ${dispatch.dispatchId}`);
      if (!hasTime()) return Promise.reject(new Error('no time'));
      if (broken.looking) return Promise.reject(new Error('no answer'));
      return Promise.resolve({ ...rows, bounceStatistics: rows.bounceStatistics ?? NO_BOUNCE_STATISTICS, overdueSince: {} });
    },
    recount: note('recount'),
    complete: note('complete'),
    close: note('close'),
    stop: note('stop'),
  };
  const follow = createFollowProgress({
    dispatches: repository,
    news: {
      publish: (news) => {
        told.push(...news);
        return Promise.resolve(
          news.map(({ dispatch }) => (dispatch.dispatchId === broken.telling ? { code: 'AccessDenied' } : 'taken')),
        );
      },
    },
    clock: clock.now,
    sleep: (ms) => {
      done.push(`wait ${ms}`);
      clock.advance(ms);
      return Promise.resolve();
    },
    observe: (signal) => {
      signals.push(signal);
    },
  });
  const countsOf = (dispatchId: string) => items.get(dispatchId)?.counts;
  return {
    run: (...records: ProgressRecord[]) => follow(records, () => 60_000),
    follow,
    done,
    told,
    signals,
    broken,
    clock,
    countsOf,
    items,
  };
};

describe('changes of recipients', () => {
  it('are added up once for each dispatch of a batch', async () => {
    const { run, countsOf } = createWorld([stored({ PENDING: 3 }), stored({ PENDING: 3 }, { dispatchId: 'd2' })]);

    expect(await run(claim(), claim('d2'), sent(), { kind: 'other' }, claim())).toBeUndefined();

    expect(countsOf('d1')).toEqual(rowCounts({ PENDING: 1, PROCESSING: 1, SENT: 1 }).counts);
    expect(countsOf('d2')).toEqual(rowCounts({ PENDING: 2, PROCESSING: 1 }).counts);
  });

  it('that come to nothing are not written', async () => {
    const { run, done, countsOf, broken, signals } = createWorld([stored({ PENDING: 3 }, { status: 'ACCEPTED' })]);
    broken.adding = 'd1';

    expect(await run(claim(), change({ status: 'PROCESSING' }, {}))).toBeUndefined();
    expect([done, signals]).toEqual([[], []]);
    expect(countsOf('d1')).toMatchObject({ PENDING: 3 });
  });

  it('of a dispatch that is gone are passed over', async () => {
    expect(await createWorld([]).run(claim())).toBeUndefined();
  });

  it('begin a dispatch at the first claim', async () => {
    const { run, done } = createWorld([stored({ PENDING: 3 }, { status: 'ACCEPTED' })]);

    await run(claim());

    expect(done).toEqual(['begin d1']);
  });

  it.each([
    ['it has begun', claim(), 'IN_PROGRESS'],
    ['it was stopped', claim(), 'STOPPED'],
    ['nobody was tried', change({}, { status: 'CANCELLED' }), 'ACCEPTED'],
  ] as const)('begin none when %s', async (_name, record, status) => {
    const { run, done } = createWorld([stored({ PENDING: 3 }, { status })]);

    await run(record);

    expect(done).toEqual([]);
  });

  it('are not counted again because a dispatch could not be begun', async () => {
    const { run, broken, signals } = createWorld([stored({ PENDING: 3 }, { status: 'ACCEPTED' })]);
    broken.beginning = true;

    expect(await run(claim())).toBeUndefined();
    expect(signals).toMatchObject([{ type: 'not-begun' }]);
  });

  it('come again from the first of a dispatch that could not be counted, and those of later dispatches are left for then', async () => {
    const world = createWorld([stored({ PENDING: 3 }), stored({ PENDING: 3 }, { dispatchId: 'd3' })]);
    world.broken.adding = 'd2';

    expect(await world.run(claim(), claim('d2'), claim('d3'))).toBe(1);

    expect(world.countsOf('d1')).toMatchObject({ PROCESSING: 1 });
    expect(world.countsOf('d3')).toMatchObject({ PROCESSING: 0 });
    expect(world.signals).toMatchObject([{ type: 'not-counted', dispatchId: 'd2' }]);
  });

  it('of a dispatch that can never be counted hold up no other: the sweeper counts it', async () => {
    const world = createWorld([stored({ PENDING: 3 }), stored({ PENDING: 3 }, { dispatchId: 'd3' })]);
    world.broken.adding = 'd2';
    world.broken.error = new Error('ValidationException');

    expect(await world.run(claim(), claim('d2'), claim('d3'))).toBeUndefined();

    expect(world.countsOf('d1')).toMatchObject({ PROCESSING: 1 });
    expect(world.countsOf('d3')).toMatchObject({ PROCESSING: 1 });
    expect(world.signals).toMatchObject([{ type: 'uncountable', dispatchId: 'd2' }]);
  });
});

describe('news', () => {
  it('is told', async () => {
    const { run, told, signals } = createWorld([]);

    expect(await run(completed('d1'), { kind: 'malformed' }, completed('d2'))).toBeUndefined();
    expect(told.map(({ id }) => id)).toEqual(['d1-0-completed', 'd2-0-completed']);
    expect(signals).toEqual([{ type: 'published', count: 2 }]);
  });

  it('that nobody took comes again, and nothing from there on is counted before', async () => {
    const world = createWorld([stored({ PENDING: 3 }), stored({ PENDING: 3 }, { dispatchId: 'd2' })]);
    world.broken.telling = 'd8';

    expect(await world.run(claim(), completed('d7'), completed('d8'), claim(), claim('d2'))).toBe(2);

    expect(world.countsOf('d1')).toMatchObject({ PROCESSING: 1 });
    expect(world.countsOf('d2')).toMatchObject({ PROCESSING: 0 });
    expect(world.signals).toEqual([
      { type: 'published', count: 1 },
      { type: 'not-published', count: 1, codes: ['AccessDenied'] },
    ]);
  });
});

describe('a dispatch that looks over by its counts', () => {
  const last = stored({ PROCESSING: 1, SENT: 2 });
  const allSent = rowCounts({ SENT: 3 });

  it('is completed if its rows say so', async () => {
    const { run, done, signals } = createWorld([last], allSent);

    await run(sent());

    expect(done).toEqual(['look at d1', 'complete d1']);
    expect(signals).toEqual([{ type: 'completed', dispatchId: 'd1' }]);
  });

  it('is closed if it was cancelled', async () => {
    const { run, done } = createWorld([{ ...last, status: 'CANCELLED' }], allSent);

    await run(sent());

    expect(done).toEqual(['look at d1', 'close d1']);
  });

  it.each<[string, Rows]>([
    ['a row is open (U17)', rowCounts({ SENT: 2, PENDING: 1 })],
    ['rows are missing (U17)', rowCounts({ SENT: 2 })],
    ['a batch is left (Q9)', { ...allSent, batches: 1 }],
  ])('is left as it is when %s', async (_name, rows) => {
    const { run, done } = createWorld([last], rows);

    await run(sent());

    expect(done).toEqual(['look at d1']);
  });

  it('is left alone while a task reopens one recipient after the other, and completed when that is done', async () => {
    const { run, done, broken } = createWorld([last], allSent);
    broken.reopening = true;

    await run(sent());
    expect(done).toEqual([]);

    broken.reopening = false;
    await run({ kind: 'reopened', dispatchId: 'd1' });
    expect(done).toEqual(['look at d1', 'complete d1']);
  });

  it('is looked at once though the end of the task comes with its last change', async () => {
    const { run, done } = createWorld([last], allSent);

    await run(sent(), { kind: 'reopened', dispatchId: 'd1' });

    expect(done).toEqual(['look at d1', 'complete d1']);
  });

  it.each<[string, readonly Stored[]]>([
    ['has open recipients', [stored({ PENDING: 1, SENT: 2 })]],
    ['is completed', [{ ...last, ...rowCounts({ SENT: 3 }), status: 'COMPLETED' }]],
    ['is gone', []],
  ])('is not looked at after a task when it %s', async (_name, dispatches) => {
    const { run, done, signals } = createWorld(dispatches, allSent);

    await run({ kind: 'reopened', dispatchId: 'd1' });

    expect([done, signals]).toEqual([[], []]);
  });

  it.each(['COMPLETED', 'STOPPED'] as const)('is not looked at when it is %s by the time that it would be', async (status) => {
    const { run, done, signals, items, broken } = createWorld([last], allSent);
    broken.meanwhile = () => items.set('d1', { ...last, status });

    await run(sent());

    expect([done, signals]).toEqual([[], []]);
  });

  it('is not looked at when it was stopped', async () => {
    const { run, done } = createWorld([{ ...last, status: 'STOPPED' }], allSent);

    await run(sent());

    expect(done).toEqual([]);
  });

  it('has its turn waited for, since no more records may come', async () => {
    const { run, done, clock } = createWorld([last], rowCounts({ SENT: 2, PENDING: 1 }));
    await run(sent());
    clock.advance(500);

    await run(bounced());

    expect(done).toEqual(['look at d1', 'wait 1500', 'look at d1']);
  });

  it('is counted anew when its counts have fallen below none: records must have come twice', async () => {
    const { run, done, signals } = createWorld([stored({ SENT: 3 })], rowCounts({ SENT: 1, PENDING: 2 }));

    await run(claim(), sent());

    expect(done).toEqual(['look at d1', 'recount d1']);
    expect(signals).toEqual([{ type: 'recounted', dispatchId: 'd1' }]);
  });

  it('is not counted anew once rows have expired: those would pass for pending', async () => {
    const { run, done } = createWorld([stored({ SENT: 3 })], rowCounts({ PENDING: 2 }));

    await run(claim(), sent());

    expect(done).toEqual(['look at d1']);
  });

  it('is left to the sweeper when the look at it fails', async () => {
    const { run, broken, signals } = createWorld([last], allSent);
    broken.looking = true;

    expect(await run(sent())).toBeUndefined();
    expect(signals).toMatchObject([{ type: 'evaluation-failed', dispatchId: 'd1' }]);
  });

  it('is left to the sweeper when there is no time for a look', async () => {
    const { follow, done } = createWorld([last], allSent);

    expect(await follow([sent()], () => 10_000)).toBeUndefined();
    expect(done).toEqual([]);
  });

  it('is left to the sweeper when time runs out during the look', async () => {
    const { follow, done, signals } = createWorld([last], allSent);
    let left = 60_000;

    expect(await follow([sent()], () => (left -= 20_000))).toBeUndefined();
    expect(done).toEqual(['look at d1']);
    expect(signals).toMatchObject([{ type: 'evaluation-failed', dispatchId: 'd1' }]);
  });

  it('is looked at though other records of the batch come again', async () => {
    const { run, broken, done } = createWorld([last], allSent);
    broken.telling = 'd2';

    expect(await run(sent(), completed('d2'))).toBe(1);
    expect(done).toEqual(['look at d1', 'complete d1']);
  });
});

describe('a dispatch of whose mails many bounced', () => {
  const bad = stored({ PENDING: 40, SENT: 60 }, { total: 100 }, { bounced: 10 });
  const rows = (statistics: Partial<RowsSeen['bounceStatistics']>): Rows => ({
    ...rowCounts({ PENDING: 40, SENT: 60 }, { bounced: 11 }),
    bounceStatistics: { ...NO_BOUNCE_STATISTICS, ...statistics },
  });

  it('is stopped if its rows say so', async () => {
    const { run, done, signals } = createWorld([bad], rows({ sent: 60, bounced: 11 }));

    await run(bounced());

    expect(done).toEqual(['look at d1', 'stop d1 high-bounce-rate']);
    expect(signals).toEqual([{ type: 'stopped', dispatchId: 'd1' }]);
  });

  it('is stopped for its complaints by a limit of their own', async () => {
    const complained = stored({ PENDING: 40, SENT: 60 }, { total: 100 }, { complained: 5 });
    const { run, done } = createWorld([complained], rows({ sent: 60, complained: 6 }));

    await run(change({ status: 'SENT' }, { status: 'SENT', delivery: 'complained' }));

    expect(done).toEqual(['look at d1', 'stop d1 high-complaint-rate']);
  });

  it('is looked at again when more of its mails are complained about', async () => {
    const both = stored({ PENDING: 40, SENT: 60 }, { total: 100 }, { bounced: 11, complained: 5 });
    const { run, done, clock } = createWorld([both], rows({ sent: 20, bounced: 3, complained: 4 }));
    const complained = change({ status: 'SENT' }, { status: 'SENT', delivery: 'complained' });
    await run(complained);
    clock.advance(10_000);
    await run(complained);
    clock.advance(10_000);
    await run(complained);

    // Two more than the four that count may exceed it.
    expect(done).toEqual(['look at d1', 'look at d1']);
  });

  it('is not looked at for soft bounces (V4)', async () => {
    const { run, done } = createWorld([stored({ PENDING: 40, SENT: 60 }, { total: 100 })], rows({ sent: 60 }));

    await run(...Array.from({ length: 30 }, () => change({ status: 'SENT' }, { status: 'SENT', delivery: 'soft-bounced' })));

    expect(done).toEqual([]);
  });

  it('is not stopped when nothing of it is left, though it could not be completed just now', async () => {
    const over = { ...rowCounts({ SENT: 100 }, { bounced: 11 }), bounceStatistics: { sent: 100, bounced: 11, complained: 0 } };
    const { run, done, broken } = createWorld([stored({ PROCESSING: 1, SENT: 99 }, { total: 100 }, { bounced: 11 })], over);
    broken.ending = true;

    await run(sent());

    expect(done).toEqual(['look at d1', 'complete d1']);
  });

  it('goes on when they bounced before it was resumed, and is looked at no more until more of them do', async () => {
    const { run, done, clock } = createWorld([bad], rows({ sent: 20, bounced: 3 }));
    await run(bounced());
    clock.advance(10_000);
    await run(bounced());

    expect(done).toEqual(['look at d1']);

    await run(...Array.from({ length: 8 }, bounced));
    expect(done).toEqual(['look at d1', 'look at d1']);
  });

  it.each(['resumedAt', 'statisticsSince'] as const)('is looked at again after another %s', async (from) => {
    const { run, done, clock, items } = createWorld([bad], rows({ sent: 20, bounced: 3 }));
    await run(bounced());
    clock.advance(10_000);
    items.set('d1', { ...bad, ...rowCounts({ PENDING: 40, SENT: 60 }, { bounced: 11 }), [from]: T0 });

    await run(bounced());

    expect(done).toEqual(['look at d1', 'look at d1']);
  });

  it('is looked at no more than every two seconds', async () => {
    const { run, done, clock } = createWorld([bad], rows({ sent: 60, bounced: 0 }));
    await run(...Array.from({ length: 30 }, bounced));
    clock.advance(1_999);
    await run(...Array.from({ length: 30 }, bounced));

    expect(done).toEqual(['look at d1']);
  });

  it.each(['STOPPED', 'CANCELLED'] as const)('is not looked at when it is %s', async (status) => {
    const { run, done } = createWorld([{ ...bad, status }], rows({ sent: 60, bounced: 11 }));

    await run(bounced());

    expect(done).toEqual([]);
  });
});
