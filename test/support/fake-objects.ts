import { createHash } from 'node:crypto';

import type { ObjectInventory, ObjectReader, ObjectWriter } from '../../lambda/application/ports/objects.ts';
import { parseObjectKey, toObjectKey } from '../../lambda/contracts/queue/object-key.ts';

/** A bucket in memory. */
export interface FakeObjects extends ObjectWriter, ObjectReader, ObjectInventory {
  readonly stored: Map<string, { body: Uint8Array; storedAt: number }>;
  /** What happened, in order. */
  readonly steps: string[];
  now: number;
  /** Keys on a page. */
  pageSize: number;
}

const hexOf = (body: Uint8Array) => createHash('sha256').update(body).digest('hex');

export const createFakeObjects = (tableId = 'table-1'): FakeObjects => {
  let tries = 0;
  const fake: FakeObjects = {
    stored: new Map(),
    steps: [],
    now: 0,
    pageSize: 1_000,
    begin: (dispatchId) => {
      const tryId = `try-${(tries += 1)}`;
      return {
        put: (name, body) => {
          const key = toObjectKey({ tableId, dispatchId, tryId, name, checksum: hexOf(body) });
          fake.stored.set(key, { body, storedAt: fake.now });
          fake.steps.push(`put ${name}`);
          return Promise.resolve(key);
        },
      };
    },
    read: (key) => {
      const found = fake.stored.get(key);
      if (found === undefined) return Promise.resolve('missing');
      return Promise.resolve(parseObjectKey(key)?.checksum === hexOf(found.body) ? found.body : 'altered');
    },
    remove: (key) => {
      fake.steps.push('remove object');
      fake.stored.delete(key);
      return Promise.resolve();
    },
    page: (after = '') => {
      const keys = [...fake.stored.keys()].filter((key) => key.startsWith(`${tableId}/`) && key > after).sort();
      const page = keys.slice(0, fake.pageSize);
      const next = page.at(-1);
      const objects = page.map((key) => ({ key, storedAt: fake.stored.get(key)?.storedAt ?? 0 }));
      return Promise.resolve({ objects, ...(keys.length > page.length && next !== undefined && { next }) });
    },
  };
  return fake;
};

/** No dispatch has a batch. */
export const noBatches = {
  batches: { left: () => Promise.resolve([]), drop: () => Promise.resolve(false) },
  taskQueue: { expand: (keys: readonly unknown[]) => Promise.resolve(keys.map(() => true)) },
} as const;
