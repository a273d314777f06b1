import { expect, it } from 'vitest';

import type { BatchRepository } from '../../../../../lambda/application/ports/tasks.ts';
import { createExpandBatch } from '../../../../../lambda/application/tasks/expand-batch.ts';
import type { DispatchStatus } from '../../../../../lambda/domain/dispatch/dispatch.ts';

const key = { dispatchId: 'd1', batch: 3 };
const recipientInputs = [{ applyId: 'a-1', email: 'kim@example.com', variables: {} }];
const found = (status: DispatchStatus = 'ACCEPTED') => ({ object: 'k', count: 1, shards: 2, status });

const batches = (changes: Partial<BatchRepository> = {}) => {
  const steps: string[] = [];
  const done = (step: string) => {
    steps.push(step);
    return Promise.resolve();
  };
  const repository: BatchRepository = {
    find: () => Promise.resolve(found()),
    recipients: () => Promise.resolve(recipientInputs),
    putRecipients: async (_key, put, shards) => {
      await done(`put ${put.length} over ${shards}`);
      return true;
    },
    remove: () => done('remove'),
    drop: async () => {
      await done('drop');
      return true;
    },
    left: () => Promise.resolve([]),
    stopUnreadable: async () => {
      await done('stop');
      return 'stopped';
    },
    ...changes,
  };
  const expand = createExpandBatch(repository, () => 0);
  return { expand: () => expand(key, () => true), steps };
};

it('puts the recipients first and removes the batch last', async () => {
  const { expand, steps } = batches();

  expect(await expand()).toBe('expanded');
  expect(steps).toEqual(['put 1 over 2', 'remove']);
});

it('does nothing when the batch is gone', async () => {
  const { expand, steps } = batches({ find: () => Promise.resolve(undefined) });

  expect(await expand()).toBe('already-expanded');
  expect(steps).toEqual([]);
});

it('fails with the batch still there when recipients could not be put', async () => {
  const { expand, steps } = batches({ putRecipients: () => Promise.reject(new Error('refused')) });

  await expect(expand()).rejects.toThrow('refused');
  expect(steps).toEqual([]);
});

it('keeps the batch when time runs out before all recipients are there (V23)', async () => {
  const { expand, steps } = batches({ putRecipients: () => Promise.resolve(false) });

  expect(await expand()).toBe('postponed');
  expect(steps).toEqual([]);
});

it.each(['ACCEPTED', 'IN_PROGRESS'] as const)(
  'stops a dispatch that is %s when its object cannot be read (V26)',
  async (status) => {
    const { expand, steps } = batches({
      find: () => Promise.resolve(found(status)),
      recipients: () => Promise.resolve('unreadable'),
    });

    expect(await expand()).toBe('stopped');
    expect(steps).toEqual(['stop']);
  },
);

it('is done when another worker expanded the batch and deleted its object meanwhile (V31)', async () => {
  const { expand, steps } = batches({
    recipients: () => Promise.resolve('unreadable'),
    stopUnreadable: () => Promise.resolve('not-named'),
  });

  expect(await expand()).toBe('already-expanded');
  expect(steps).toEqual([]);
});

it('leaves a batch for a resume when its dispatch is stopped already', async () => {
  const { expand, steps } = batches({
    find: () => Promise.resolve(found('STOPPED')),
    recipients: () => Promise.resolve('unreadable'),
    stopUnreadable: () => Promise.resolve('not-sending'),
  });

  expect(await expand()).toBe('unreadable');
  expect(steps).toEqual([]);
});

it('expands a batch of a stopped dispatch as ever', async () => {
  expect(await batches({ find: () => Promise.resolve(found('STOPPED')) }).expand()).toBe('expanded');
});

it('removes a batch of a cancelled dispatch without a look at its object', async () => {
  const { expand, steps } = batches({
    find: () => Promise.resolve(found('CANCELLED')),
    recipients: () => Promise.reject(new Error('not to be read')),
  });

  expect(await expand()).toBe('dropped');
  expect(steps).toEqual(['drop']);
});
