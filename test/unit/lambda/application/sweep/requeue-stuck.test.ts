import { describe, expect, it } from 'vitest';

import type { OpenRowStatus, OverduePosition, OverdueRow } from '../../../../../lambda/application/ports/progress.ts';
import { requeueStuck, type Stuck } from '../../../../../lambda/application/sweep/requeue-stuck.ts';
import { aDispatch, aKey } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

const PAGE = 100;

/** Dispatches with so many overdue rows each, a hundred a shard. */
const aWorld = (overdue: Readonly<Record<string, number>>, depth = 0) => {
  /** The dispatch of each message, in the order in which they were sent. */
  const sent: string[] = [];
  const sentKeys: string[] = [];
  const kept = new Map<string, OverduePosition | undefined>();
  const world = {
    sent,
    sentKeys,
    kept,
    /** Calls that there is time for. */
    turns: Infinity,
    onLedger: 0,
    accepts: true,
    breaks: false,
    statuses: [] as (readonly OpenRowStatus[])[],
    rows: (_shard: number, i: number): Partial<OverdueRow> => ({ since: T0 - i }),
  };
  const requeue = (more: readonly Partial<Stuck['dispatch']>[] = [], waiting?: number) => {
    const all = Object.entries(overdue).map(([dispatchId], i) => aDispatch({ dispatchId, ...more[i] }));
    return requeueStuck(
      {
        dispatches: {
          overdueRows: ({ dispatchId }, statuses, from) => {
            world.statuses.push(statuses);
            if (world.breaks) return Promise.reject(new Error('no answer'));
            const first = from.shard * PAGE;
            const count = Math.max(0, Math.min(PAGE, (overdue[dispatchId] ?? 0) - first));
            const rows = Array.from({ length: count }, (_, i) => ({
              key: aKey(`a-${first + i}`, dispatchId),
              since: T0,
              status: 'PENDING' as const,
              ...world.rows(from.shard, i),
            }));
            const isLast = first + PAGE >= (overdue[dispatchId] ?? 0);
            return Promise.resolve({ rows, ...(!isLast && { next: { ...from, shard: from.shard + 1 } }) });
          },
          keepRequeue: (dispatchId, from) => {
            kept.set(dispatchId, from);
            return Promise.resolve();
          },
        },
        sendQueue: {
          send: (messages) => {
            if (world.accepts) {
              sent.push(...messages.map(({ key }) => key.dispatchId));
              sentKeys.push(...messages.map(({ key }) => key.applyId));
            }
            return Promise.resolve(messages.map(() => world.accepts));
          },
          depth: () => Promise.resolve(depth),
        },
        ledger: { size: () => Promise.resolve(world.onLedger) },
      },
      all.map((dispatch) => ({
        dispatch: { ...dispatch, ...more.find(({ dispatchId }) => dispatchId === dispatch.dispatchId) },
        from: more.find(({ dispatchId }) => dispatchId === dispatch.dispatchId)?.requeueFrom ?? { until: T0, shard: 0 },
      })),
      waiting ?? Object.values(overdue).reduce((sum, n) => sum + n, 0),
      () => world.turns-- > 0,
    );
  };
  return { world, requeue, of: (dispatchId: string) => sent.filter((each) => each === dispatchId).length };
};

describe('rows that lost their message', () => {
  it('get it again, all of them, a page of each dispatch in turn (V11)', async () => {
    const { world, requeue, of } = aWorld({ large: 350, small: 3 });

    expect(await requeue()).toBe(353);
    expect([of('large'), of('small')]).toEqual([350, 3]);
    expect(world.sent.indexOf('small')).toBe(PAGE);
    expect(world.kept.size).toBe(0);
  });

  it('get it the longest overdue first within what is read at once', async () => {
    const { world, requeue } = aWorld({ one: 3 });

    await requeue();

    expect(world.sentKeys).toEqual(['a-2', 'a-1', 'a-0']);
  });

  it('of each dispatch are served before time ends, and the next pass goes on where this one stopped (V11)', async () => {
    const { world, requeue, of } = aWorld({ a: 500, b: 500, c: 500 });
    world.turns = 4;

    await requeue();

    expect([of('a'), of('b'), of('c')]).toEqual([200, 100, 100]);
    expect(Object.fromEntries(world.kept)).toEqual({
      a: { until: T0, shard: 2 },
      b: { until: T0, shard: 1 },
      c: { until: T0, shard: 1 },
    });
  });

  it('go on from there, after dispatches of which nothing was sent yet, and are forgotten once all are sent', async () => {
    const { world, requeue } = aWorld({ begun: 250, untouched: 20 });
    const requeueFrom = { until: T0 - 1, shard: 1 };

    await requeue([{ dispatchId: 'begun', requeueFrom }]);

    expect(world.sent[0]).toBe('untouched');
    expect(world.sentKeys.filter((key) => key === 'a-0')).toHaveLength(1);
    expect(world.sent).toHaveLength(20 + 150);
    expect([...world.kept]).toEqual([['begun', undefined]]);
  });

  it('are not taken to have lost it while they are on the ledger of unclear attempts', async () => {
    const { world, requeue } = aWorld({ a: 250 }, 100);
    world.onLedger = 130;

    expect(await requeue()).toBe(20);
  });

  it('get no more than the queue seems to be missing, and what is over is looked for in the next pass', async () => {
    const { world, requeue, of } = aWorld({ a: 250, b: 250 }, 380);

    expect(await requeue()).toBe(120);
    expect([of('a'), of('b')]).toEqual([100, 20]);
    expect(Object.fromEntries(world.kept)).toEqual({ a: { until: T0, shard: 1 }, b: { until: T0, shard: 0 } });
  });

  it('get ten for each dispatch while the queue seems to hold them all, and are not looked for again (O5)', async () => {
    const { world, requeue, of } = aWorld({ a: 250, b: 250 }, 5_000);

    await requeue();

    expect([of('a'), of('b')]).toEqual([10, 10]);
    expect(world.kept.size).toBe(0);
  });

  it('of a stopped dispatch get it only if they are under way', async () => {
    const { world, requeue } = aWorld({ a: 1 });

    await requeue([{ dispatchId: 'a', status: 'STOPPED' }]);

    expect(world.statuses).toEqual([['PROCESSING']]);
  });

  it.each(['the queue', 'the table'])('are looked for by the next pass when %s does not answer', async (what) => {
    const { world, requeue } = aWorld({ a: 250 });
    if (what === 'the queue') world.accepts = false;
    else world.breaks = true;

    expect(await requeue()).toBe(0);
    expect([...world.kept]).toEqual([['a', { until: T0, shard: 0 }]]);
  });
});
