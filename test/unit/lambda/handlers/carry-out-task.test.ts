import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createHandler } from '../../../../lambda/handlers/carry-out-task/handler.ts';
import { type Captured, captureOutput } from '../../../support/captured-output.ts';
import { aContext, anSqsEvent, taskBody } from '../../../support/lambda-events.ts';

let output: Captured;
beforeEach(() => {
  output = captureOutput();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const handlerThat = (expand: (batch: number) => Promise<'expanded' | 'already-expanded'>) => {
  const seen: number[] = [];
  const handler = createHandler({
    expandBatch: ({ batch }) => {
      seen.push(batch);
      return expand(batch);
    },
    telemetry: output.telemetry,
  });
  return { handler, seen };
};
const allGood = () => Promise.resolve('expanded' as const);

describe('the task worker’s handler', () => {
  it('carries out one task after the other', async () => {
    const { handler, seen } = handlerThat(allGood);

    expect(await handler(anSqsEvent(taskBody(1), taskBody(2)), aContext())).toEqual({ batchItemFailures: [] });
    expect(seen).toEqual([1, 2]);
  });

  it('reports only the task that must come again (Q1)', async () => {
    const { handler } = handlerThat((batch) => (batch === 2 ? Promise.reject(new Error('throttled')) : allGood()));

    expect(await handler(anSqsEvent(taskBody(1), taskBody(2), taskBody(3)), aContext())).toEqual({
      batchItemFailures: [{ itemIdentifier: 'sqs-1' }],
    });
  });

  it('reports a task alone in its batch instead of failing', async () => {
    const { handler } = handlerThat(() => Promise.reject(new Error('throttled')));

    expect(await handler(anSqsEvent(taskBody(1)), aContext())).toEqual({ batchItemFailures: [{ itemIdentifier: 'sqs-0' }] });
  });

  it.each([
    ['not JSON', 'not json'],
    ['of version 99', taskBody(1).replace('"v":1', '"v":99')],
    ['of a kind nobody knows', taskBody(1).replace('expand', 'erase')],
  ])('keeps a message %s for the dead-letter queue (Q2)', async (_name, body) => {
    const { handler, seen } = handlerThat(allGood);

    expect(await handler(anSqsEvent(body, taskBody(2)), aContext())).toEqual({
      batchItemFailures: [{ itemIdentifier: 'sqs-0' }],
    });
    expect(seen).toEqual([2]);
  });

  it('counts what it expanded, not what was expanded before', async () => {
    const { handler } = handlerThat((batch) => Promise.resolve(batch === 1 ? 'expanded' : 'already-expanded'));

    await handler(anSqsEvent(taskBody(1), taskBody(2)), aContext());

    expect(output.metrics()).toEqual([{ name: 'BatchExpanded', value: 1, dimensions: ['service'] }]);
  });
});
