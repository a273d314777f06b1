import {
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  type SendMessageBatchCommandInput,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createSendQueue } from '../../../../../lambda/adapters/sqs/send-queue.ts';
import { createTaskQueue } from '../../../../../lambda/adapters/sqs/task-queue.ts';
import { SendMessageBody } from '../../../../../lambda/contracts/queue/queue-messages.ts';
import { aKey } from '../../../../support/builders.ts';
import { createFakeClock, type FakeClock } from '../../../../support/clock.ts';
import { sdkError } from '../../../../support/dynamo.ts';

const sqs = mockClient(SQSClient);
let clock: FakeClock;
let ids: number;

const deps = () => ({
  client: new SQSClient({ region: 'eu-west-1' }),
  queueUrl: 'https://sqs/sends',
  newId: () => `m-${(ids += 1)}`,
  clock: clock.now,
  random: Math.random,
  sleep: clock.sleep,
});
const messages = (n: number, delaySeconds = 0) => Array.from({ length: n }, (_, i) => ({ key: aKey(`a-${i}`), delaySeconds }));
const sends = () => sqs.commandCalls(SendMessageBatchCommand).map(({ args }) => args[0].input.Entries ?? []);
const accept = ({ Entries = [] }: SendMessageBatchCommandInput) => ({
  Successful: Entries.map(({ Id }) => ({ Id })),
  Failed: [],
});
/** Fails the entries at these places of the call. */
const refuse =
  (...places: number[]) =>
  ({ Entries = [] }: SendMessageBatchCommandInput) => ({
    Successful: Entries.filter((_, i) => !places.includes(i)).map(({ Id }) => ({ Id })),
    Failed: Entries.filter((_, i) => places.includes(i)).map(({ Id }) => ({ Id, Code: 'InternalError', SenderFault: false })),
  });

beforeEach(() => {
  sqs.reset();
  clock = createFakeClock();
  ids = 0;
});

describe('sending', () => {
  it('goes ten a call, in the group of the dispatch', async () => {
    sqs.on(SendMessageBatchCommand).callsFake(accept);

    expect(await createSendQueue(deps()).send(messages(23))).toEqual(new Array(23).fill(true));
    expect(sends().map(({ length }) => length)).toEqual([10, 10, 3]);
    for (const { MessageGroupId } of sends().flat()) expect(MessageGroupId).toBe('d1spatch');
  });

  it('says what version 1 says, with an id of its own, and nothing personal', async () => {
    sqs.on(SendMessageBatchCommand).callsFake(accept);

    await createSendQueue(deps()).send([{ key: { dispatchId: 'd1', shard: 3, applyId: 'a-1' }, delaySeconds: 0 }]);

    expect(JSON.parse(sends()[0]?.[0]?.MessageBody ?? '')).toEqual({
      v: 1,
      id: 'm-1',
      dispatchId: 'd1',
      shard: 3,
      applyId: 'a-1',
      enqueuedAt: '2026-03-02T09:00:00.000Z',
    });
  });

  it.each(['지원자', 'Zoë\u007f', '😀', 'a\u0000b', 'a\ufffeb', '\ud800', '"\\'])(
    'carries the id %o as ASCII, and unchanged',
    async (applyId) => {
      sqs.on(SendMessageBatchCommand).callsFake(accept);

      await createSendQueue(deps()).send([{ key: aKey(applyId), delaySeconds: 0 }]);

      const body = sends()[0]?.[0]?.MessageBody ?? '';
      expect(body).toMatch(/^[\x20-\x7e]+$/);
      expect(SendMessageBody.parse(JSON.parse(body)).applyId).toBe(applyId);
    },
  );

  it.each([
    [0, undefined],
    [-5, undefined],
    [60, 60],
    [900, 900],
    [3_600, 900],
  ])('delayed by %i s asks for %o', async (delaySeconds, asked) => {
    sqs.on(SendMessageBatchCommand).callsFake(accept);

    await createSendQueue(deps()).send(messages(1, delaySeconds));

    expect(sends()[0]?.[0]?.DelaySeconds).toBe(asked);
  });

  it('repeats the two entries that a 200 says have failed (Q3)', async () => {
    sqs.on(SendMessageBatchCommand).callsFakeOnce(refuse(3, 8)).callsFake(accept);

    expect(await createSendQueue(deps()).send(messages(10))).toEqual(new Array(10).fill(true));
    expect(sends().map((entries) => entries.map(({ Id }) => Id))).toEqual([
      ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'],
      ['3', '8'],
    ]);
  });

  it('gives a repeated entry an id of its own, so that a copy of it can never pass for a redrive (Q6b)', async () => {
    sqs.on(SendMessageBatchCommand).callsFakeOnce(refuse(0)).callsFake(accept);

    await createSendQueue(deps()).send(messages(1));

    const bodies = sends().flatMap((entries) =>
      entries.map(({ MessageBody = '' }) => SendMessageBody.parse(JSON.parse(MessageBody))),
    );
    expect(new Set(bodies.map(({ id }) => id)).size).toBe(2);
  });

  it('repeats a call that was not answered', async () => {
    sqs.on(SendMessageBatchCommand).rejectsOnce(sdkError('TimeoutError')).callsFake(accept);

    expect(await createSendQueue(deps()).send(messages(2))).toEqual([true, true]);
    expect(sends()).toHaveLength(2);
  });

  it('says which the queue does not have after three tries, and never throws', async () => {
    sqs.on(SendMessageBatchCommand).callsFake(refuse(0));

    expect(await createSendQueue(deps()).send(messages(3))).toEqual([false, true, true]);
    expect(sends().map(({ length }) => length)).toEqual([3, 1, 1]);

    sqs.reset();
    sqs.on(SendMessageBatchCommand).rejects(sdkError('AccessDenied', 403));
    expect(await createSendQueue(deps()).send(messages(2))).toEqual([false, false]);
  });
});

describe('hiding', () => {
  it('goes ten a call', async () => {
    sqs.on(ChangeMessageVisibilityBatchCommand).resolves({});

    await createSendQueue(deps()).hide(Array.from({ length: 12 }, (_, i) => ({ receiptHandle: `r-${i}`, seconds: i })));

    const calls = sqs.commandCalls(ChangeMessageVisibilityBatchCommand).map(({ args }) => args[0].input);
    expect(calls.map(({ Entries }) => Entries?.length)).toEqual([10, 2]);
    expect(calls[1]).toEqual({
      QueueUrl: 'https://sqs/sends',
      Entries: [
        { Id: '0', ReceiptHandle: 'r-10', VisibilityTimeout: 10 },
        { Id: '1', ReceiptHandle: 'r-11', VisibilityTimeout: 11 },
      ],
    });
  });

  it('that fails leaves the queue’s own visibility in force', async () => {
    sqs.on(ChangeMessageVisibilityBatchCommand).rejects(sdkError('TimeoutError'));

    await expect(createSendQueue(deps()).hide([{ receiptHandle: 'r', seconds: 1 }])).resolves.toBeUndefined();
  });
});

describe('the depth of the queue', () => {
  it('counts what is visible, delayed or in flight', async () => {
    sqs.on(GetQueueAttributesCommand).resolves({
      Attributes: {
        ApproximateNumberOfMessages: '5',
        ApproximateNumberOfMessagesNotVisible: '20',
        ApproximateNumberOfMessagesDelayed: '300',
      },
    });

    expect(await createSendQueue(deps()).depth()).toBe(325);
  });
});

describe('the task queue', () => {
  it('asks to expand a batch, in the group of its dispatch', async () => {
    sqs.on(SendMessageBatchCommand).callsFake(accept);

    expect(await createTaskQueue(deps()).expand([{ dispatchId: 'd1', batch: 49 }])).toEqual([true]);
    expect(
      sends()[0]?.map(({ MessageBody = '', MessageGroupId }) => [JSON.parse(MessageBody) as unknown, MessageGroupId]),
    ).toEqual([[{ v: 1, id: 'm-1', kind: 'expand', dispatchId: 'd1', batch: 49 }, 'd1']]);
  });

  it('asks to carry out a task, in the group of its dispatch', async () => {
    sqs.on(SendMessageBatchCommand).callsFake(accept);

    expect(await createTaskQueue(deps()).enqueueTasks([{ dispatchId: 'd1', task: 2 }])).toEqual([true]);
    expect(
      sends()[0]?.map(({ MessageBody = '', MessageGroupId }) => [JSON.parse(MessageBody) as unknown, MessageGroupId]),
    ).toEqual([[{ v: 1, id: 'm-1', kind: 'run', dispatchId: 'd1', task: 2 }, 'd1']]);
  });
});
