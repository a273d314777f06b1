import { expect, it } from 'vitest';

import { createExpandBatch } from '../../../../lambda/application/expand-batch.ts';
import type { BatchRepository } from '../../../../lambda/application/ports.ts';

const key = { dispatchId: 'd1', batch: 3 };
const addressees = [{ applyId: 'a-1', email: 'kim@example.com', variables: {} }];

const batches = (changes: Partial<BatchRepository> = {}) => {
  const steps: string[] = [];
  const repository: BatchRepository = {
    find: () => Promise.resolve({ addressees, shards: 2 }),
    putRecipients: (_key, put, shards) => {
      steps.push(`put ${put.length} over ${shards}`);
      return Promise.resolve();
    },
    remove: () => {
      steps.push('remove');
      return Promise.resolve();
    },
    ...changes,
  };
  return { expand: createExpandBatch(repository, () => 0), steps };
};

it('puts the recipients first and removes the batch last', async () => {
  const { expand, steps } = batches();

  expect(await expand(key)).toBe('expanded');
  expect(steps).toEqual(['put 1 over 2', 'remove']);
});

it('does nothing when the batch is gone', async () => {
  const { expand, steps } = batches({ find: () => Promise.resolve(undefined) });

  expect(await expand(key)).toBe('already-expanded');
  expect(steps).toEqual([]);
});

it('fails with the batch still there when recipients could not be put', async () => {
  const { expand, steps } = batches({ putRecipients: () => Promise.reject(new Error('throttled')) });

  await expect(expand(key)).rejects.toThrow('throttled');
  expect(steps).toEqual([]);
});
