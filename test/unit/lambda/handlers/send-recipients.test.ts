import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { RecipientMessage } from '../../../../lambda/application/send/finished-attempt.ts';
import type { MessageAction } from '../../../../lambda/domain/recipient/decide-message.ts';
import { createHandler } from '../../../../lambda/handlers/send-recipients/handler.ts';
import { aKey } from '../../../support/builders.ts';
import { type Captured, captureOutput } from '../../../support/captured-output.ts';
import { createFakeClock, T0 } from '../../../support/clock.ts';
import { aContext, anSqsEvent, anSqsRecord, sendBody } from '../../../support/lambda-events.ts';

let output: Captured;
beforeEach(() => {
  output = captureOutput();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const handlerThat = (decide: (message: RecipientMessage) => MessageAction = () => ({ do: 'delete' })) => {
  const seen: RecipientMessage[] = [];
  const hidden: { receiptHandle: string; seconds: number }[] = [];
  const sent: string[] = [];
  const times: number[] = [];
  const handler = createHandler({
    sendRecipients: (messages, remainingMs) => {
      seen.push(...messages);
      times.push(remainingMs());
      return Promise.resolve(messages.map(decide));
    },
    queue: {
      send: (messages) => {
        sent.push(...messages.map(({ key }) => key.applyId));
        return Promise.resolve(messages.map(() => true));
      },
      hide: (messages) => {
        hidden.push(...messages);
        return Promise.resolve();
      },
      depth: () => Promise.resolve(0),
    },
    clock: createFakeClock(T0 + 60_000).now,
    telemetry: output.telemetry,
  });
  return { handler, seen, hidden, sent, times };
};
const bodies = (n: number) => Array.from({ length: n }, (_, i) => sendBody(aKey(`a-${i}`), `m-${i}`));

describe('the sender’s handler', () => {
  it('reads a message and its place in the queue’s life', async () => {
    const { handler, seen, times } = handlerThat();
    const record = anSqsRecord(0, sendBody(aKey('지원자'), 'm-7'), {
      ApproximateReceiveCount: '4',
      SentTimestamp: String(T0 + 123),
    });

    await handler({ Records: [record] }, aContext(25_000));

    expect(seen).toEqual([{ id: 'm-7', key: aKey('지원자'), sentAt: T0 + 123, receiveCount: 4, receivedAt: T0 + 60_000 }]);
    expect(times).toEqual([25_000]);
  });

  it('reports only the seventh when the seventh must stay (Q1)', async () => {
    const { handler } = handlerThat(({ key }) => (key.applyId === 'a-6' ? { do: 'wait', until: T0 } : { do: 'delete' }));

    expect(await handler(anSqsEvent(...bodies(10)), aContext())).toEqual({ batchItemFailures: [{ itemIdentifier: 'sqs-6' }] });
  });

  it('hides what waits until its time', async () => {
    const { handler, hidden } = handlerThat(() => ({ do: 'wait', until: T0 + 90_000 }));

    await handler(anSqsEvent(...bodies(1)), aContext());

    expect(hidden).toEqual([{ receiptHandle: 'handle-0', seconds: 30 }]);
  });

  it('lets go of a message that was replaced', async () => {
    const { handler, sent } = handlerThat(() => ({ do: 'requeue', until: T0 + 90_000 }));

    expect(await handler(anSqsEvent(...bodies(1)), aContext())).toEqual({ batchItemFailures: [] });
    expect(sent).toEqual(['a-0']);
  });

  it.each([
    ['is not JSON', 'not json {'],
    ['is of version 99', JSON.stringify({ ...(JSON.parse(bodies(1)[0] ?? '') as object), v: 99 })],
    ['names nobody', JSON.stringify({ v: 1, id: 'm-1' })],
    ['is empty', ''],
    ['is null', 'null'],
  ])('fails a message at once that %s, the rest unaffected (Q2)', async (_name, body) => {
    const { handler, seen, hidden } = handlerThat();
    const [first = '', second = ''] = bodies(2);

    const response = await handler(anSqsEvent(first, body, second), aContext());

    expect(response).toEqual({ batchItemFailures: [{ itemIdentifier: 'sqs-1' }] });
    expect(hidden).toEqual([{ receiptHandle: 'handle-1', seconds: 0 }]);
    expect(seen.map(({ key }) => key.applyId)).toEqual(['a-0', 'a-1']);
    expect(output.metrics()).toMatchObject([{ name: 'MessageMalformed' }]);
  });

  it('logs neither the body nor its receipt when it cannot be understood', async () => {
    await handlerThat().handler(anSqsEvent('kim@example.com is no JSON'), aContext());

    expect(output.text()).toContain('sqs-0');
    expect(output.text()).not.toMatch(/kim@example\.com|handle-0/);
  });

  it('fails a message for which nothing was decided', async () => {
    const handler = createHandler({
      sendRecipients: () => Promise.resolve([]),
      queue: { send: () => Promise.resolve([]), hide: () => Promise.resolve(), depth: () => Promise.resolve(0) },
      clock: () => T0,
      telemetry: output.telemetry,
    });

    expect(await handler(anSqsEvent(...bodies(1)), aContext())).toEqual({ batchItemFailures: [{ itemIdentifier: 'sqs-0' }] });
  });
});
