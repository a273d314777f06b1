import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Unavailable } from '../../../../lambda/application/ports/errors.ts';
import type { Expansion } from '../../../../lambda/application/tasks/expand-batch.ts';
import { NO_ROWS, type TaskReport } from '../../../../lambda/application/tasks/run-task.ts';
import { createHandler } from '../../../../lambda/handlers/run-task/handler.ts';
import { type Captured, captureOutput } from '../../../support/captured-output.ts';
import { aContext, anSqsEvent, runTaskBody, taskBody } from '../../../support/lambda-events.ts';

let output: Captured;
beforeEach(() => {
  output = captureOutput();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

interface World {
  readonly expand?: (batch: number) => Promise<Expansion>;
  readonly enqueueTasks?: (task: number, remainingMs: () => number) => Promise<TaskReport>;
  /** Whether the queue takes a message. */
  readonly takes?: boolean;
}

const allGood = () => Promise.resolve('expanded' as const);
const done: TaskReport = { outcome: 'done', kind: 'cancel', ...NO_ROWS };

const handlerDeps = () => ({
  runTask: () => Promise.resolve(done),
  taskQueue: { enqueueTasks: () => Promise.resolve([true]), expand: () => Promise.resolve([true]) },
  hide: () => Promise.resolve(),
  isTransient: () => false,
  telemetry: output.telemetry,
});

const handlerThat = ({ expand = allGood, enqueueTasks = () => Promise.resolve(done), takes = true }: World = {}) => {
  const seen: number[] = [];
  const handedOn: object[] = [];
  const hidden: number[] = [];
  const handler = createHandler({
    expandBatch: ({ batch }) => {
      seen.push(batch);
      return expand(batch);
    },
    runTask: ({ task }, remainingMs) => {
      seen.push(task);
      return enqueueTasks(task, remainingMs);
    },
    taskQueue: {
      enqueueTasks: (keys, delaySeconds = 0) => {
        if (takes) handedOn.push(...keys.map((key) => ({ ...key, delaySeconds })));
        return Promise.resolve(keys.map(() => takes));
      },
      expand: (keys, delaySeconds = 0) => {
        if (takes) handedOn.push(...keys.map((key) => ({ ...key, delaySeconds })));
        return Promise.resolve(keys.map(() => takes));
      },
    },
    hide: (_receiptHandle, seconds) => {
      hidden.push(seconds);
      return Promise.resolve();
    },
    isTransient: (error) => error instanceof Unavailable,
    telemetry: output.telemetry,
  });
  return { handler, seen, handedOn, hidden };
};
const metrics = () => Object.fromEntries(output.metrics().map(({ name, value }) => [name, value]));

describe('the task worker’s handler', () => {
  it('carries out one task after the other', async () => {
    const { handler, seen } = handlerThat();

    expect(await handler(anSqsEvent(taskBody(1), runTaskBody(2), taskBody(3)), aContext())).toEqual({ batchItemFailures: [] });
    expect(seen).toEqual([1, 2, 3]);
  });

  it('reports only the task that must come again (Q1)', async () => {
    const { handler } = handlerThat({
      expand: (batch) => (batch === 2 ? Promise.reject(new Error('throttled')) : allGood()),
      enqueueTasks: () => Promise.reject(new Error('throttled')),
    });

    expect(await handler(anSqsEvent(taskBody(1), taskBody(2), runTaskBody(3), taskBody(4)), aContext())).toEqual({
      batchItemFailures: [{ itemIdentifier: 'sqs-1' }, { itemIdentifier: 'sqs-2' }],
    });
  });

  it('reports a task alone in its batch instead of failing', async () => {
    const { handler } = handlerThat({ expand: () => Promise.reject(new Error('throttled')) });

    expect(await handler(anSqsEvent(taskBody(1)), aContext())).toEqual({ batchItemFailures: [{ itemIdentifier: 'sqs-0' }] });
  });

  it.each([
    ['not JSON', 'not json'],
    ['of version 99', taskBody(1).replace('"v":1', '"v":99')],
    ['of a kind nobody knows', taskBody(1).replace('expand', 'erase')],
    ['of a task without a number', runTaskBody(1).replace('"task":1', '"task":0')],
  ])('keeps a message %s for the dead-letter queue (Q2)', async (_name, body) => {
    const { handler, seen } = handlerThat();

    expect(await handler(anSqsEvent(body, taskBody(2)), aContext())).toEqual({
      batchItemFailures: [{ itemIdentifier: 'sqs-0' }],
    });
    expect(seen).toEqual([2]);
  });

  it('counts what it expanded, not what was expanded before', async () => {
    const { handler } = handlerThat({ expand: (batch) => Promise.resolve(batch === 1 ? 'expanded' : 'already-expanded') });

    await handler(anSqsEvent(taskBody(1), taskBody(2)), aContext());

    expect(output.metrics()).toEqual([{ name: 'BatchExpanded', value: 1, dimensions: ['service', 'Stage'] }]);
  });

  it('counts what a task did', async () => {
    const { handler } = handlerThat({
      enqueueTasks: () =>
        Promise.resolve({
          outcome: 'done',
          kind: 'resume',
          cancelled: 1,
          reopened: 2,
          settled: 6,
          enqueued: 3,
          exported: 5,
          broken: 4,
        }),
    });

    await handler(anSqsEvent(runTaskBody(1)), aContext());

    expect(metrics()).toEqual({
      RecipientCancelled: 1,
      RecipientReopened: 2,
      RecipientSettledByHand: 6,
      RecipientEnqueuedAgain: 3,
      RecipientExported: 5,
      RecipientBroken: 4,
      TaskDone: 1,
    });
  });

  it('lets a task know how much time is left', async () => {
    const left: number[] = [];
    const { handler } = handlerThat({
      enqueueTasks: (_task, remainingMs) => {
        left.push(remainingMs());
        return Promise.resolve(done);
      },
    });

    await handler(anSqsEvent(runTaskBody(1)), aContext(12_345));

    expect(left).toEqual([12_345]);
  });
});

describe('a task of which there is more', () => {
  const more: World = { enqueueTasks: () => Promise.resolve({ ...done, outcome: 'more' }) };

  it('gets its next message before this one is let go of', async () => {
    const { handler, handedOn } = handlerThat(more);

    expect(await handler(anSqsEvent(runTaskBody(7)), aContext())).toEqual({ batchItemFailures: [] });
    expect(handedOn).toEqual([{ dispatchId: 'd1', task: 7, delaySeconds: 0 }]);
    expect(metrics()).toEqual({});
  });

  it('keeps its message when the queue takes no other', async () => {
    const { handler } = handlerThat({ ...more, takes: false });

    expect(await handler(anSqsEvent(runTaskBody(7)), aContext())).toEqual({ batchItemFailures: [{ itemIdentifier: 'sqs-0' }] });
  });

  it.each(['done', 'overtaken', 'nothing-left'] as const)('is none that is %s', async (outcome) => {
    const { handler, handedOn } = handlerThat({ enqueueTasks: () => Promise.resolve({ ...done, outcome }) });

    expect(await handler(anSqsEvent(runTaskBody(7)), aContext())).toEqual({ batchItemFailures: [] });
    expect(handedOn).toEqual([]);
  });
});

describe('trouble that passes', () => {
  const trouble = () => Promise.reject(new Unavailable('the table', 5));

  it.each<[string, World, string, object]>([
    ['an expansion that ran out of time', { expand: () => Promise.resolve('postponed') }, taskBody(4), { batch: 4 }],
    ['an expansion without an answer of the store', { expand: trouble }, taskBody(4), { batch: 4 }],
    ['a task without an answer of the table', { enqueueTasks: trouble }, runTaskBody(7), { task: 7 }],
  ])('lets %s go on after 15 s by a fresh message, so that no receive is used up (V23)', async (_name, world, body, key) => {
    const { handler, handedOn } = handlerThat(world);

    expect(await handler(anSqsEvent(body), aContext())).toEqual({ batchItemFailures: [] });
    expect(handedOn).toEqual([{ dispatchId: 'd1', ...key, delaySeconds: 15 }]);
    expect(metrics()).toEqual({ TaskPostponed: 1 });
  });

  it('shows the message itself again after 15 s when the queue takes no fresh one', async () => {
    const { handler, hidden } = handlerThat({ expand: trouble, takes: false });

    expect(await handler(anSqsEvent(taskBody(4)), aContext())).toEqual({ batchItemFailures: [{ itemIdentifier: 'sqs-0' }] });
    expect(hidden).toEqual([15]);
  });

  it('keeps time back to hand the rest on', async () => {
    const answers: boolean[] = [];
    const handler = createHandler({
      ...handlerDeps(),
      expandBatch: (_key, hasTime) => {
        answers.push(hasTime());
        return allGood();
      },
    });

    await handler(anSqsEvent(taskBody(1)), aContext(15_001));
    await handler(anSqsEvent(taskBody(1)), aContext(15_000));

    expect(answers).toEqual([true, false]);
  });
});

describe('a batch that cannot be read', () => {
  it.each<[Expansion, object]>([
    ['stopped', { DispatchStopped: 1 }],
    ['unreadable', {}],
    ['dropped', {}],
    ['already-expanded', {}],
  ])('is done, and rings if it stopped its dispatch: %s (V26)', async (outcome, counted) => {
    const { handler, handedOn } = handlerThat({ expand: () => Promise.resolve(outcome) });

    expect(await handler(anSqsEvent(taskBody(4)), aContext())).toEqual({ batchItemFailures: [] });
    expect({ handedOn, counted: metrics() }).toEqual({ handedOn: [], counted });
  });
});
