import { describe, expect, it } from 'vitest';

import { readShards } from '../../../../../../lambda/adapters/dynamo/client/read-shards.ts';

/** Reads that answer when they are told to. */
const createReads = () => {
  const begun: { pk: string; answer: () => void; fail: () => void }[] = [];
  const read = (pk: string) =>
    new Promise<string>((resolve, reject) => {
      begun.push({
        pk,
        answer: () => {
          resolve(`rows of ${pk}`);
        },
        fail: () => {
          reject(new Error('no answer'));
        },
      });
    });
  return { begun, read };
};

/** Lets everything happen that waits for nothing. */
const settle = () => new Promise((done) => setImmediate(done));

describe('all shards of a dispatch', () => {
  it('are read eight at a time, and answered in their order whichever comes first', async () => {
    const { begun, read } = createReads();
    const reading = readShards({ dispatchId: 'd1', shards: 20 }, read);
    await settle();
    expect(begun).toHaveLength(8);

    begun[7]?.answer();
    await settle();
    expect(begun).toHaveLength(9);

    for (let i = 0; i < 20; i += 1) {
      begun[i]?.answer();
      await settle();
    }
    expect(await reading).toEqual(Array.from({ length: 20 }, (_, shard) => `rows of DISPATCH#d1#${shard}`));
    expect(begun).toHaveLength(20);
  });

  it('are no more than there are', async () => {
    expect(await readShards({ dispatchId: 'd1', shards: 2 }, (pk) => Promise.resolve(pk))).toEqual([
      'DISPATCH#d1#0',
      'DISPATCH#d1#1',
    ]);
  });

  it('are not read on once one of them cannot be read', async () => {
    const { begun, read } = createReads();
    const reading = readShards({ dispatchId: 'd1', shards: 20 }, read);
    await settle();

    begun[3]?.fail();
    await expect(reading).rejects.toThrow('no answer');

    begun[0]?.answer();
    await settle();
    expect(begun).toHaveLength(8);
  });
});
