import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createEventPublisher } from '../../lambda/adapters/eventbridge/event-publisher.ts';
import { PublishedEvent } from '../../lambda/contracts/events/published-event.ts';
import type { DispatchEvent } from '../../lambda/domain/dispatch/dispatch-event.ts';
import { aDispatch, rowCounts } from '../support/builders.ts';
import { T0 } from '../support/clock.ts';
import { sdkError } from '../support/dynamo.ts';

const bus = mockClient(EventBridgeClient);
const board = createEventPublisher({
  client: new EventBridgeClient({}),
  busName: 'mail-events',
  random: Math.random,
  sleep: () => Promise.resolve(),
});

const news = (id: string, more: Partial<DispatchEvent> = {}): DispatchEvent => ({
  id,
  kind: 'completed',
  dispatch: aDispatch({ dispatchId: 'd1' }),
  at: T0,
  ...more,
});
const many = (n: number): DispatchEvent[] => Array.from({ length: n }, (_, i) => news(`n-${i}`));

const calls = () => bus.commandCalls(PutEventsCommand).map(({ args }) => args[0].input.Entries ?? []);
const idsIn = (entries: readonly { Detail?: string | undefined }[]): string[] =>
  entries.map(({ Detail = '' }) => PublishedEvent.parse(JSON.parse(Detail)).id);
const took = { EventId: '11710aed-b79e-4468-a20b-bb3c0c3b4860' };
const refused = { ErrorCode: 'ThrottlingException', ErrorMessage: 'Rate exceeded' };

beforeEach(() => {
  bus.reset();
});

describe('an event', () => {
  it('says exactly this', async () => {
    bus.on(PutEventsCommand).resolves({ Entries: [took] });
    const dispatch = aDispatch({
      dispatchId: 'd1',
      adminId: 'kim@example.com',
      status: 'COMPLETED',
      outcome: 'partly-sent',
      needsAttention: true,
      generation: 2,
      total: 3,
      ...rowCounts({ SENT: 2, FAILED: 1 }, { delivered: 1 }),
    });

    expect(await board.publish([news('d1-2-completed', { dispatch })])).toEqual(['taken']);

    const [[entry] = []] = calls();
    expect(entry).toEqual({
      EventBusName: 'mail-events',
      Source: 'mail-dispatch',
      DetailType: 'Dispatch Completed',
      Detail: expect.any(String) as string,
    });
    expect(JSON.parse(entry?.Detail ?? '')).toEqual({
      version: 1,
      id: 'd1-2-completed',
      dispatchId: 'd1',
      status: 'COMPLETED',
      outcome: 'partly-sent',
      needsAttention: true,
      total: 3,
      counts: { PENDING: 0, PROCESSING: 0, SENT: 2, FAILED: 1, UNKNOWN: 0, CANCELLED: 0 },
      deliveries: { delayed: 0, 'soft-bounced': 0, delivered: 1, rejected: 0, suppressed: 0, bounced: 0, complained: 0 },
      generation: 2,
      at: '2026-03-02T09:00:00.000Z',
    });
  });

  it.each([
    ['completed', 'Dispatch Completed'],
    ['stopped', 'Dispatch Stopped'],
    ['needs-attention', 'Dispatch Needs Attention'],
  ] as const)('that tells of %s has the type %s', async (kind, type) => {
    bus.on(PutEventsCommand).resolves({ Entries: [took] });

    await board.publish([news('n', { kind })]);

    expect(calls()[0]?.[0]?.DetailType).toBe(type);
  });

  it.each([
    ['the reason why it was stopped', 'STOPPED', 'high-bounce-rate'],
    ['no reason of an earlier stop', 'COMPLETED', undefined],
  ] as const)('has %s', async (_name, status, expected) => {
    bus.on(PutEventsCommand).resolves({ Entries: [took] });

    await board.publish([news('n', { dispatch: aDispatch({ status, failureReason: 'high-bounce-rate' }) })]);

    expect(PublishedEvent.parse(JSON.parse(calls()[0]?.[0]?.Detail ?? '')).failureReason).toBe(expected);
  });
});

describe('the bus', () => {
  it('is given ten events a call', async () => {
    bus.on(PutEventsCommand).callsFake(({ Entries }: { Entries: unknown[] }) => ({ Entries: Entries.map(() => took) }));

    expect(await board.publish(many(23))).toEqual(many(23).map(() => 'taken'));
    expect(calls().map((entries) => entries.length)).toEqual([10, 10, 3]);
  });

  it('gets once more what it did not take of a call that succeeded', async () => {
    bus
      .on(PutEventsCommand)
      .resolvesOnce({ FailedEntryCount: 2, Entries: [took, refused, refused] })
      .resolvesOnce({ FailedEntryCount: 1, Entries: [took, refused] });

    expect(await board.publish(many(3))).toEqual(['taken', 'taken', { code: 'ThrottlingException' }]);
    expect(calls().map(idsIn)).toEqual([
      ['n-0', 'n-1', 'n-2'],
      ['n-1', 'n-2'],
    ]);
  });

  it.each([
    ['is throttled', sdkError('ThrottlingException', 400)],
    ['gives no answer', sdkError('TimeoutError')],
    ['refuses', sdkError('AccessDeniedException', 400)],
  ])('that %s twice has taken nothing, and the error’s name tells why', async (_name, error) => {
    bus.on(PutEventsCommand).rejects(error);

    expect(await board.publish(many(2))).toEqual([{ code: error.name }, { code: error.name }]);
    expect(calls()).toHaveLength(2);
  });

  it('is asked nothing when there is no news', async () => {
    expect(await board.publish([])).toEqual([]);
    expect(calls()).toEqual([]);
  });
});
