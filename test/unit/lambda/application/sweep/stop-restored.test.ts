import { describe, expect, it } from 'vitest';

import type { TableOrigin } from '../../../../../lambda/application/ports/control.ts';
import { createStopRestored, type RestoreReport } from '../../../../../lambda/application/sweep/stop-restored.ts';
import type { Dispatch } from '../../../../../lambda/domain/dispatch/dispatch.ts';
import { aDispatch } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

interface WorldOptions {
  readonly origin: TableOrigin | 'unavailable';
  readonly dispatches?: Dispatch[];
  /** Dispatches with a task that is not done. */
  readonly tasks?: readonly string[];
  readonly remainingMs?: () => number;
  /** What happens while the list is read. */
  readonly meanwhile?: (listings: number) => void;
}

const createWorld = ({ origin: first, dispatches = [], tasks = [], remainingMs = () => 240_000, meanwhile }: WorldOptions) => {
  let origin = first;
  let listings = 0;
  const reports: RestoreReport[] = [];
  const step = createStopRestored({
    identity: {
      origin: () => Promise.resolve(origin),
      adopt: () => {
        origin = 'own';
        return Promise.resolve();
      },
    },
    dispatches: {
      async *open() {
        listings += 1;
        for (const dispatch of [...dispatches]) yield await Promise.resolve(dispatch);
        meanwhile?.(listings);
      },
      tasks: (dispatchId) => Promise.resolve(tasks.includes(dispatchId) ? [{ dispatchId, task: 1 }] : []),
      stopRestored: ({ dispatchId }) => {
        const at = dispatches.findIndex((each) => each.dispatchId === dispatchId);
        const found = dispatches[at];
        if (found === undefined || found.status === 'STOPPED' || found.status === 'CANCELLED') return Promise.resolve(false);
        dispatches[at] = { ...found, status: 'STOPPED', failureReason: 'table-restored' };
        return Promise.resolve(true);
      },
    },
    clock: () => T0,
    observe: (report) => reports.push(report),
  });
  const statuses = () => dispatches.map(({ status }) => status);
  return { run: () => step(remainingMs), reports, statuses, origin: () => origin };
};

describe('the first passes in a restored table', () => {
  it('stop everything that could be sent, and nothing else (U8)', async () => {
    const world = createWorld({
      origin: 'restored',
      dispatches: [
        aDispatch({ dispatchId: 'd-1', status: 'ACCEPTED' }),
        aDispatch({ dispatchId: 'd-2', status: 'IN_PROGRESS' }),
        aDispatch({ dispatchId: 'd-3', status: 'COMPLETED' }),
        aDispatch({ dispatchId: 'd-4', status: 'CANCELLED' }),
        aDispatch({ dispatchId: 'd-5', status: 'STOPPED', failureReason: 'high-bounce-rate' }),
      ],
    });

    await world.run();

    expect(world.statuses()).toEqual(['STOPPED', 'STOPPED', 'COMPLETED', 'CANCELLED', 'STOPPED']);
    expect(world.reports).toEqual([{ stopped: 2, finished: true }]);
    expect(world.origin()).toBe('own');
  });

  it('stop a completed dispatch whose retry would be carried out once more', async () => {
    const dispatches = [aDispatch({ dispatchId: 'd-1', status: 'COMPLETED' })];
    const world = createWorld({ origin: 'restored', dispatches, tasks: ['d-1'] });

    await world.run();

    expect(world.statuses()).toEqual(['STOPPED']);
  });

  it('look again until nothing is left, since a task under way may open a dispatch that was passed over', async () => {
    const dispatches = [
      aDispatch({ dispatchId: 'd-1', status: 'COMPLETED' }),
      aDispatch({ dispatchId: 'd-2', status: 'IN_PROGRESS' }),
    ];
    const world = createWorld({
      origin: 'restored',
      dispatches,
      meanwhile: (listings) => {
        if (listings === 1) dispatches[0] = aDispatch({ dispatchId: 'd-1', status: 'IN_PROGRESS' });
      },
    });

    await world.run();

    expect(world.statuses()).toEqual(['STOPPED', 'STOPPED']);
  });

  it('leave senders waiting when time runs out, and go on in the next pass', async () => {
    const ids = ['d-1', 'd-2', 'd-3'];
    let left = 2;
    const world = createWorld({
      origin: 'restored',
      dispatches: ids.map((dispatchId) => aDispatch({ dispatchId, status: 'IN_PROGRESS' })),
      remainingMs: () => ((left -= 1) < 0 ? 1_000 : 240_000),
    });

    await world.run();
    expect(world.origin()).toBe('restored');
    expect(world.statuses()).toContain('IN_PROGRESS');

    left = 100;
    await world.run();
    expect(world.statuses()).toEqual(['STOPPED', 'STOPPED', 'STOPPED']);
    expect(world.origin()).toBe('own');
  });
});

describe('a pass in any other table', () => {
  it.each<TableOrigin>(['own', 'unrecorded'])('stops nothing when its items are %s', async (origin) => {
    const world = createWorld({ origin, dispatches: [aDispatch({ status: 'IN_PROGRESS' })] });

    await world.run();

    expect(world.statuses()).toEqual(['IN_PROGRESS']);
    expect(world.origin()).toBe('own');
    expect(world.reports).toEqual([]);
  });

  it('decides nothing while the table gives no answer', async () => {
    const world = createWorld({ origin: 'unavailable', dispatches: [aDispatch({ status: 'IN_PROGRESS' })] });

    await expect(world.run()).rejects.toThrow();

    expect(world.statuses()).toEqual(['IN_PROGRESS']);
    expect(world.origin()).toBe('unavailable');
  });
});
