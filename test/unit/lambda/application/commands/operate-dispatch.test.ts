import { describe, expect, it } from 'vitest';

import { createOperateDispatch } from '../../../../../lambda/application/commands/operate-dispatch.ts';
import { Unavailable } from '../../../../../lambda/application/ports/errors.ts';
import type { CommandTarget, NewTask } from '../../../../../lambda/application/ports/tasks.ts';
import type { Command } from '../../../../../lambda/domain/dispatch/command.ts';
import type { Counts, Dispatch } from '../../../../../lambda/domain/dispatch/dispatch.ts';
import { aDispatch, DISPATCH_ID, rowCounts, someCounts } from '../../../../support/builders.ts';
import { createFakeClock, T0 } from '../../../../support/clock.ts';

interface World {
  readonly stored?: CommandTarget | undefined;
  /** Changes of others that come between our reading and our writing, one a try. */
  readonly meanwhile?: readonly Partial<Dispatch>[];
  readonly counts?: Counts | Error;
  readonly hasContent?: boolean;
}

const OWNER = { adminId: 'admin-1', isOperator: false };

const run = async (
  command: Command,
  { stored, meanwhile = [], counts = someCounts({}), hasContent = true }: World,
  person = OWNER,
  more?: Pick<NewTask, 'statuses' | 'word'>,
) => {
  const clock = createFakeClock();
  const started: { next: Dispatch; task: NewTask }[] = [];
  const others = [...meanwhile];
  let now = stored;
  const operate = createOperateDispatch({
    dispatches: {
      find: () => Promise.resolve(now),
      hasContent: () => Promise.resolve(hasContent),
      start: (from, next, task) => {
        const change = others.shift();
        if (change !== undefined && now !== undefined) now = { ...now, dispatch: { ...now.dispatch, ...change } };
        if (now?.dispatch !== from.dispatch) return Promise.resolve(false);
        started.push({ next, task });
        now = { dispatch: next, tasks: from.tasks + 1 };
        return Promise.resolve(true);
      },
    },
    rows: { counts: () => (counts instanceof Error ? Promise.reject(counts) : Promise.resolve(rowCounts(counts))) },
    clock: clock.now,
    random: () => 0.5,
    sleep: clock.sleep,
  });
  const result = await operate(person, command, DISPATCH_ID, more);
  return { result, started, again: () => operate(person, command, DISPATCH_ID, more), clock };
};
const stopped = aDispatch({ status: 'STOPPED', generation: 3, faultCode: 'INVALID_PARAMETER', faultSince: T0 - 9 });

describe('cancelling', () => {
  it.each(['ACCEPTED', 'IN_PROGRESS', 'STOPPED'] as const)('works while a dispatch is %s (U16)', async (status) => {
    const { result, started } = await run('cancel', { stored: { dispatch: aDispatch({ status }), tasks: 2 } });

    expect(result).toMatchObject({ outcome: 'accepted', dispatch: { status: 'CANCELLED', generation: 1 }, task: 3, isNew: true });
    expect(started).toMatchObject([{ task: { kind: 'cancel', requestedAt: T0, requestedBy: 'admin-1' } }]);
  });

  it('twice is answered the same and starts one task', async () => {
    const { result, again, started } = await run('cancel', { stored: { dispatch: aDispatch(), tasks: 0 } });

    expect(await again()).toEqual({ ...result, isNew: false });
    expect(started).toHaveLength(1);
  });

  it('is refused once a dispatch is completed', async () => {
    const { result } = await run('cancel', { stored: { dispatch: aDispatch({ status: 'COMPLETED' }), tasks: 0 } });

    expect(result).toEqual({ outcome: 'refused', because: 'already-completed', status: 'COMPLETED' });
  });

  it('is refused when every recipient is final, though nobody has stored that yet', async () => {
    const counts = someCounts({ SENT: 2, FAILED: 1 });
    const { result, started } = await run('cancel', { stored: { dispatch: aDispatch({ total: 3 }), tasks: 0 }, counts });

    expect(result).toEqual({ outcome: 'refused', because: 'already-completed', status: 'COMPLETED' });
    expect(started).toEqual([]);
  });

  it.each([
    ['one recipient waits', someCounts({ SENT: 2, PENDING: 1 })],
    ['one recipient is still in a batch', someCounts({ SENT: 2 })],
    ['the recipients cannot be counted', new Unavailable('the table', 1)],
  ])('works when %s (U16)', async (_name, counts) => {
    const { result } = await run('cancel', { stored: { dispatch: aDispatch({ total: 3 }), tasks: 0 }, counts });

    expect(result.outcome).toBe('accepted');
  });

  it('carries no fault of an earlier stop', async () => {
    const { started } = await run('cancel', { stored: { dispatch: stopped, tasks: 0 } });

    expect(started[0]?.task).not.toHaveProperty('faultCode');
  });
});

describe('resuming', () => {
  it('hands the fault over to the task (S10)', async () => {
    const { result, started } = await run('resume', { stored: { dispatch: stopped, tasks: 0 } });

    expect(result).toMatchObject({ outcome: 'accepted', dispatch: { status: 'IN_PROGRESS', resumedAt: T0 }, task: 1 });
    expect(started[0]?.task).toEqual({
      kind: 'resume',
      requestedAt: T0,
      requestedBy: 'admin-1',
      faultCode: 'INVALID_PARAMETER',
      faultSince: T0 - 9,
    });
  });

  it('works without a fault, as after a long outage', async () => {
    const dispatch = aDispatch({ status: 'STOPPED', failureReason: 'stale' });
    const { started } = await run('resume', { stored: { dispatch, tasks: 0 } });

    expect(started[0]?.task).toEqual({ kind: 'resume', requestedAt: T0, requestedBy: 'admin-1' });
  });

  it.each(['ACCEPTED', 'IN_PROGRESS', 'COMPLETED', 'CANCELLED'] as const)('is refused while a dispatch is %s', async (status) => {
    const { result } = await run('resume', { stored: { dispatch: aDispatch({ status }), tasks: 0 } });

    expect(result).toEqual({ outcome: 'refused', because: 'not-stopped', status });
  });

  it('twice is refused the second time, naming the state', async () => {
    const { again } = await run('resume', { stored: { dispatch: stopped, tasks: 0 } });

    expect(await again()).toEqual({ outcome: 'refused', because: 'not-stopped', status: 'IN_PROGRESS' });
  });
});

describe('a dispatch', () => {
  it('of another admin is as good as none (A5)', async () => {
    const another = { adminId: 'admin-2', isOperator: false };

    expect((await run('cancel', { stored: { dispatch: aDispatch(), tasks: 0 } }, another)).result).toEqual({
      outcome: 'not-found',
    });
    expect((await run('cancel', {}, another)).result).toEqual({ outcome: 'not-found' });
  });

  it('of any admin may be changed by an operator', async () => {
    const operator = { adminId: 'op', isOperator: true };
    const { result, started } = await run('cancel', { stored: { dispatch: aDispatch(), tasks: 0 } }, operator);

    expect(result.outcome).toBe('accepted');
    expect(started[0]?.task.requestedBy).toBe('op');
  });

  it('that others change at the same time is read again, and changed as it is then', async () => {
    const { result, started } = await run('cancel', {
      stored: { dispatch: aDispatch(), tasks: 0 },
      meanwhile: [{ generation: 7 }, { status: 'STOPPED', generation: 7 }],
    });

    expect(result).toMatchObject({ outcome: 'accepted', dispatch: { status: 'CANCELLED', generation: 8 } });
    expect(started).toHaveLength(1);
  });

  it('that was completed at the same time is not cancelled', async () => {
    const { result } = await run('cancel', {
      stored: { dispatch: aDispatch(), tasks: 0 },
      meanwhile: [{ status: 'COMPLETED' }],
    });

    expect(result).toMatchObject({ outcome: 'refused', because: 'already-completed' });
  });

  it('that never stands still is left alone after some tries, and the person asked to come again', async () => {
    const meanwhile = Array.from({ length: 50 }, (_, generation) => ({ generation }));

    await expect(run('cancel', { stored: { dispatch: aDispatch(), tasks: 0 }, meanwhile })).rejects.toThrow(Unavailable);
  });
});

describe('retrying', () => {
  it.each(['ACCEPTED', 'IN_PROGRESS', 'STOPPED', 'COMPLETED'] as const)(
    'of a dispatch that is %s leaves its state alone and starts a task (U20)',
    async (status) => {
      const stored = { dispatch: aDispatch({ status, generation: 3 }), tasks: 1 };
      const { result, started } = await run('retry', { stored }, OWNER, { statuses: ['FAILED', 'UNKNOWN'] });

      expect(result).toMatchObject({ outcome: 'accepted', dispatch: { status, generation: 4 }, task: 2, isNew: true });
      expect(started).toMatchObject([{ task: { kind: 'retry', requestedAt: T0, statuses: ['FAILED', 'UNKNOWN'] } }]);
    },
  );

  it('is refused in a dispatch that is cancelled', async () => {
    const { result } = await run('retry', { stored: { dispatch: aDispatch({ status: 'CANCELLED' }), tasks: 1 } }, OWNER, {
      statuses: ['FAILED'],
    });

    expect(result).toEqual({ outcome: 'refused', because: 'already-cancelled', status: 'CANCELLED' });
  });

  it('is refused when there is nothing left to make a mail of', async () => {
    const stored = { dispatch: aDispatch({ status: 'COMPLETED' }), tasks: 1 };
    const { result, started } = await run('retry', { stored, hasContent: false }, OWNER, { statuses: ['FAILED'] });

    expect(result).toEqual({ outcome: 'refused', because: 'expired', status: 'COMPLETED' });
    expect(started).toEqual([]);
  });
});

describe('settling all of whom nobody knows', () => {
  it.each(['ACCEPTED', 'IN_PROGRESS', 'STOPPED', 'COMPLETED', 'CANCELLED'] as const)(
    'starts a task in a dispatch that is %s, which stays as it is',
    async (status) => {
      const word = { as: 'failed', note: 'not in the log' } as const;
      const dispatch = aDispatch({ status, generation: 3 });
      const { result, started } = await run('settle', { stored: { dispatch, tasks: 1 } }, OWNER, { word });

      expect(result).toMatchObject({ outcome: 'accepted', dispatch, task: 2, isNew: true });
      expect(started).toMatchObject([
        { next: dispatch, task: { kind: 'settle', requestedAt: T0, requestedBy: 'admin-1', word } },
      ]);
    },
  );
});

describe('an export', () => {
  it.each(['IN_PROGRESS', 'COMPLETED', 'CANCELLED', 'STOPPED'] as const)(
    'of a dispatch that is %s changes nothing of it',
    async (status) => {
      const dispatch = aDispatch({ status, generation: 3 });
      const { result, started } = await run('export', { stored: { dispatch, tasks: 0 } }, OWNER, { statuses: ['FAILED'] });

      expect(result).toMatchObject({ outcome: 'accepted', dispatch, task: 1 });
      expect(started).toMatchObject([{ next: dispatch, task: { kind: 'export', statuses: ['FAILED'] } }]);
    },
  );
});
