import { describe, expect, it } from 'vitest';

import type { DispatchPage, OpenList } from '../../../../../lambda/application/ports/queries.ts';
import { createShowOverview, type ShowOverviewDeps } from '../../../../../lambda/application/queries/show-overview.ts';
import type { Dispatch } from '../../../../../lambda/domain/dispatch/dispatch.ts';
import type { Sending } from '../../../../../lambda/domain/sending/pause.ts';
import { aDispatch } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

const WITNESS = { watermark: T0, unapplied: [] };

/** Answers with these pages, one after another; the queries are kept. */
const pages = (...answers: DispatchPage[]) => {
  const queries: Parameters<OpenList['list']>[0][] = [];
  return {
    queries,
    list: (query: Parameters<OpenList['list']>[0]) => {
      queries.push(query);
      return Promise.resolve(answers[queries.length - 1] ?? { dispatches: [] });
    },
  };
};

const show = (dispatches: OpenList, deps: Partial<ShowOverviewDeps> = {}) =>
  createShowOverview({
    dispatches,
    sending: { read: () => Promise.resolve({ version: 0 }) },
    sweeps: {
      lastPassAt: () => Promise.resolve(T0),
      roundProgressAt: () => Promise.resolve(T0 - 1),
      newestSent: () => Promise.resolve(T0 - 5),
    },
    feedback: { read: () => Promise.resolve(WITNESS) },
    clock: () => T0,
    ...deps,
  })();

const numbered = (count: number, dispatch: Partial<Dispatch>): Dispatch[] =>
  Array.from({ length: count }, (_, n) => aDispatch({ dispatchId: `d${n}`, createdAt: T0 - n, ...dispatch }));

describe('the overview', () => {
  it('of a quiet service has nothing to show', async () => {
    expect(await show(pages())).toEqual({
      now: T0,
      sending: { version: 0 },
      lastPassAt: T0,
      roundProgressAt: T0 - 1,
      feedback: WITNESS,
      newestSentAt: T0 - 5,
      inNeed: [],
      moreInNeed: 0,
      underWay: 0,
      oldestUnderWayAt: undefined,
      isPart: false,
    });
  });

  it('shows the twenty worst, counts the rest, and leaves out those that go well', async () => {
    const stopped = numbered(22, { status: 'STOPPED', stoppedAt: T0 });
    const well = [aDispatch({ dispatchId: 'well' }), aDispatch({ dispatchId: 'older', createdAt: T0 - 99 })];

    const seen = await show(pages({ dispatches: [...well, ...stopped] }));

    expect(seen.inNeed.map(({ dispatch }) => dispatch.dispatchId)).toEqual(stopped.slice(0, 20).map((each) => each.dispatchId));
    expect(seen).toMatchObject({ moreInNeed: 2, underWay: 2, oldestUnderWayAt: T0 - 99, isPart: false });
  });

  it('asks when the newest mail was taken, and remembers nothing', async () => {
    const seen: unknown[] = [];
    const newestSent = (at: unknown) => {
      seen.push(at);
      return Promise.resolve(undefined);
    };

    const sweeps = { lastPassAt: () => Promise.resolve(T0), roundProgressAt: () => Promise.resolve(undefined), newestSent };
    expect(await show(pages(), { sweeps })).toMatchObject({
      newestSentAt: undefined,
    });
    expect(seen).toEqual([undefined]);
  });

  it('looks at tests as at all others', async () => {
    const list = pages({ dispatches: numbered(1, { status: 'STOPPED', isTest: true }) });

    expect((await show(list)).inNeed).toHaveLength(1);
    expect(list.queries.map(({ isTest }) => isTest)).toEqual([undefined]);
  });

  it('looks at those that need attention also when more are open than it looks at', async () => {
    const list = pages(
      { dispatches: numbered(2, {}), next: { part: 'open', after: 'x' } },
      { dispatches: [aDispatch({ dispatchId: 'short', status: 'COMPLETED', needsAttention: true })] },
    );

    const seen = await show(list);

    expect(list.queries.map(({ from, isTest }) => [from, isTest])).toEqual([
      [undefined, undefined],
      [{ part: 'attention' }, undefined],
    ]);
    expect(seen.inNeed.map(({ dispatch }) => dispatch.dispatchId)).toEqual(['short']);
    expect(seen).toMatchObject({ underWay: 2, isPart: true });
  });

  it('asks once when the first answer holds them all, or ends among those that need attention', async () => {
    const all = pages({ dispatches: numbered(1, {}) });
    const some = pages({ dispatches: numbered(1, {}), next: { part: 'attention', after: 'x' } });

    expect(await show(all)).toMatchObject({ isPart: false });
    expect(await show(some)).toMatchObject({ isPart: true });
    expect([all.queries.length, some.queries.length]).toEqual([1, 1]);
  });

  it('shows a dispatch once that was read twice', async () => {
    const [dispatch] = numbered(1, { status: 'STOPPED' });
    const twice = dispatch === undefined ? [] : [dispatch, dispatch];

    expect((await show(pages({ dispatches: twice }))).inNeed).toHaveLength(1);
  });

  it('masks addresses in who paused, and why', async () => {
    const pause = { by: 'operator', who: 'kim@example.com', since: T0, reason: 'asked by lee@example.org' } as const;
    const read = (sending: Sending) => show(pages(), { sending: { read: () => Promise.resolve(sending) } });

    expect((await read({ version: 1, pause })).sending).toEqual({
      version: 1,
      pause: { by: 'operator', who: 'k…@example.com', since: T0, reason: 'asked by l…@example.org' },
    });
    const bare = { by: 'operator', who: 'op-1', since: T0 } as const;
    expect((await read({ version: 1, pause: bare })).sending).toEqual({ version: 1, pause: bare });
  });

  it('says what the table did not tell, and shows the rest', async () => {
    const silent = () => Promise.resolve('unavailable' as const);

    const fails = () => Promise.reject(new Error('no answer'));
    const sweeps = { lastPassAt: silent, roundProgressAt: fails, newestSent: fails };
    const unknown = { sending: 'unavailable', lastPassAt: 'unavailable', newestSentAt: 'unavailable', feedback: 'unavailable' };

    expect(await show(pages(), { sending: { read: silent }, sweeps, feedback: { read: silent } })).toMatchObject({
      ...unknown,
      inNeed: [],
    });
  });
});
