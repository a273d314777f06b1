import { expect, it } from 'vitest';

import type { BatchKey, TaskKey } from '../../../../../lambda/application/ports/queues.ts';
import { type OutboxRecord, relayOutbox } from '../../../../../lambda/application/relay/relay-outbox.ts';
import type { RecipientKey } from '../../../../../lambda/domain/recipient/recipient.ts';
import { aKey } from '../../../../support/builders.ts';

const recipient = (n: number): OutboxRecord => ({ kind: 'recipient', key: aKey(`a-${n}`) });
const batch = (n: number): OutboxRecord => ({ kind: 'batch', key: { dispatchId: 'd1', batch: n } });
const task = (n: number): OutboxRecord => ({ kind: 'task', key: { dispatchId: 'd1', task: n } });
const malformed: OutboxRecord = { kind: 'malformed', record: { odd: true } };
const recipients = (n: number) => Array.from({ length: n }, (_, i) => recipient(i));

const relay = async (
  records: readonly OutboxRecord[],
  {
    refuse = () => false,
    bucket = true,
  }: { refuse?: (key: RecipientKey | BatchKey | TaskKey) => boolean; bucket?: boolean } = {},
) => {
  const relayed: (RecipientKey | BatchKey | TaskKey)[] = [];
  const kept: unknown[] = [];
  const take = (key: RecipientKey | BatchKey | TaskKey): boolean => {
    if (refuse(key)) return false;
    relayed.push(key);
    return true;
  };
  const firstOpen = await relayOutbox(
    {
      sendQueue: {
        send: (messages) => Promise.resolve(messages.map(({ key }) => take(key))),
        hide: () => Promise.resolve(),
        depth: () => Promise.resolve(0),
      },
      taskQueue: {
        expand: (keys) => Promise.resolve(keys.map(take)),
        enqueueTasks: (keys) => Promise.resolve(keys.map(take)),
      },
      quarantine: (record) => {
        if (!bucket) return Promise.reject(new Error('no bucket'));
        kept.push(record);
        return Promise.resolve();
      },
    },
    records,
  );
  return { firstOpen, relayed, kept };
};

it('carries recipients to the send queue, batches and tasks to the task queue', async () => {
  const { firstOpen, relayed } = await relay([recipient(1), batch(0), { kind: 'other' }, task(2)]);

  expect(firstOpen).toBeUndefined();
  expect(relayed).toEqual([aKey('a-1'), { dispatchId: 'd1', batch: 0 }, { dispatchId: 'd1', task: 2 }]);
});

it('keeps a record that can never be handled by its own hand, and relays the other nine (O1)', async () => {
  const records = [...recipients(2), malformed, ...recipients(7)];

  const { firstOpen, relayed, kept } = await relay(records);

  expect(firstOpen).toBeUndefined();
  expect(relayed).toHaveLength(9);
  expect(kept).toEqual([{ odd: true }]);
});

it('asks for the third and all after it again when the third could not be relayed (O1)', async () => {
  const { firstOpen } = await relay(recipients(10), { refuse: (key) => 'applyId' in key && key.applyId === 'a-2' });

  expect(firstOpen).toBe(2);
});

it.each<[string, OutboxRecord[], number]>([
  ['a batch before a recipient', [recipient(0), batch(0), recipient(1)], 1],
  ['a recipient before a batch', [recipient(0), recipient(1), batch(0)], 1],
  ['a task before a batch', [recipient(0), task(1), batch(0)], 1],
])('names the first open one, whatever its kind: %s', async (_name, records, expected) => {
  const refuse = (key: RecipientKey | BatchKey | TaskKey) => !('applyId' in key) || key.applyId === 'a-1';

  expect((await relay(records, { refuse })).firstOpen).toBe(expected);
});

it('asks for a record again that the bucket did not take', async () => {
  expect((await relay([recipient(0), malformed, recipient(1)], { bucket: false })).firstOpen).toBe(1);
});

it('sends nothing for records of other kinds (O2)', async () => {
  expect(await relay([{ kind: 'other' }, { kind: 'other' }])).toEqual({ firstOpen: undefined, relayed: [], kept: [] });
});
