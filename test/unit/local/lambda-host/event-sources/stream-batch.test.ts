import { describe, expect, it } from 'vitest';

import type { BatchAnswer } from '../../../../../local/lambda-host/event-sources/batch-answer.ts';
import {
  carryBatch,
  type DiscardReason,
  type StreamBatchOptions,
} from '../../../../../local/lambda-host/event-sources/stream-batch.ts';

interface Row {
  readonly sequenceNumber: string;
  readonly createdAt: number;
}

const NOW = 1_000_000;
const rows = (...numbers: number[]): Row[] => numbers.map((n) => ({ sequenceNumber: String(n), createdAt: NOW }));
const numbersOf = (records: readonly Row[]) => records.map(({ sequenceNumber }) => Number(sequenceNumber)).join(',');
const done = (...failures: number[]): BatchAnswer => ({ kind: 'done', failures: failures.map(String) });
const failed: BatchAnswer = { kind: 'failed', reason: 'thrown' };

const carry = async (
  batch: readonly Row[],
  answer: (numbers: string) => BatchAnswer,
  settings: Partial<StreamBatchOptions<Row>> = {},
) => {
  const calls: string[] = [];
  const discarded: [string, DiscardReason][] = [];
  const checkpoints: number[] = [];
  const finished = await carryBatch(batch, {
    bisect: true,
    maxRetries: 2,
    maxAgeSeconds: -1,
    invoke: (records) => {
      calls.push(numbersOf(records));
      return Promise.resolve(answer(numbersOf(records)));
    },
    discard: (records, reason) => {
      discarded.push([numbersOf(records), reason]);
      return Promise.resolve();
    },
    checkpoint: ({ sequenceNumber }) => checkpoints.push(Number(sequenceNumber)),
    now: () => NOW,
    waitToRetry: () => Promise.resolve(true),
    ...settings,
  });
  return { calls, discarded, checkpoints, finished };
};

describe('a batch of a stream', () => {
  it('is done with one call when nothing fails', async () => {
    expect(await carry(rows(1, 2, 3), () => done())).toEqual({
      calls: ['1,2,3'],
      discarded: [],
      checkpoints: [3],
      finished: true,
    });
  });

  it('is retried from the first failed record, which is the lowest one named', async () => {
    const { calls, checkpoints } = await carry(rows(1, 2, 3, 4), (numbers) => (numbers === '1,2,3,4' ? done(4, 3) : done()));
    expect(calls).toEqual(['1,2,3,4', '3,4']);
    expect(checkpoints).toEqual([2, 4]);
  });

  it('is cut in two on a function error until the bad record is alone, and only that one is given up', async () => {
    const bad = (numbers: string) => (numbers.split(',').includes('3') ? failed : done());
    const { calls, discarded, checkpoints } = await carry(rows(1, 2, 3, 4), bad);
    expect(calls).toEqual(['1,2,3,4', '1,2', '3,4', '3', '3', '3', '4']);
    expect(discarded).toEqual([['3', 'RetryAttemptsExhausted']]);
    expect(checkpoints).toEqual([2, 3, 4]);
  });

  it('is retried whole on a function error without bisection, and given up whole', async () => {
    const { calls, discarded } = await carry(rows(1, 2), () => failed, { bisect: false });
    expect(calls).toEqual(['1,2', '1,2', '1,2']);
    expect(discarded).toEqual([['1,2', 'RetryAttemptsExhausted']]);
  });

  it('gets fresh retries when it made progress', async () => {
    let failures = 0;
    const answer = (numbers: string): BatchAnswer => {
      if (numbers.startsWith('1') && failures++ < 2) return done(1);
      return numbers === '1,2' ? done(2) : failures++ < 4 ? done(2) : done();
    };
    expect(await carry(rows(1, 2), answer)).toMatchObject({ discarded: [], finished: true });
  });

  it('gives records up that are too old without calling the function for them', async () => {
    const batch = [{ sequenceNumber: '1', createdAt: NOW - 61_000 }, ...rows(2)];
    const { calls, discarded } = await carry(batch, () => done(), { maxAgeSeconds: 60 });
    expect(calls).toEqual(['2']);
    expect(discarded).toEqual([['1', 'RecordAgeExceeded']]);
  });

  it('is retried for ever if the mapping says so', async () => {
    let calls = 0;
    const answer = () => (++calls < 50 ? failed : done());
    expect((await carry(rows(1), answer, { maxRetries: -1 })).discarded).toEqual([]);
  });

  it('keeps its checkpoint when the stack stops in the middle', async () => {
    const stop = { waitToRetry: () => Promise.resolve(false) };
    const result = await carry(rows(1, 2, 3), (numbers) => (numbers === '1,2,3' ? done(2) : done()), stop);
    expect(result).toMatchObject({ finished: false, checkpoints: [1], discarded: [] });
  });
});
