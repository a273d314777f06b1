import { describe, expect, it } from 'vitest';

import { createBatchingWindow } from '../../../../../local/lambda-host/event-sources/batching-window.ts';
import { createFakeClock } from '../../../../support/clock.ts';

/** Of numbers the even ones are wanted. */
const batchingWindow = (windowMs: number) => {
  const clock = createFakeClock();
  const gather = createBatchingWindow<number>({ batchSize: 3, windowMs, matches: (n) => n % 2 === 0, now: clock.now });
  return { clock, gather: (...numbers: number[]) => gather(numbers, false), end: () => gather([], true) };
};

describe('the records of a shard', () => {
  it('are handed over together once the time since the first of them is over', () => {
    const { clock, gather } = batchingWindow(1_000);

    expect(gather(2)).toEqual([]);
    clock.advance(999);
    expect(gather(4)).toEqual([]);
    clock.advance(1);
    expect(gather()).toEqual([2, 4]);

    expect(gather(6)).toEqual([]);
    clock.advance(1_000);
    expect(gather()).toEqual([6]);
  });

  it('are handed over before that when there are enough for a batch', () => {
    const { gather } = batchingWindow(1_000);

    expect(gather(2, 4)).toEqual([]);
    expect(gather(5, 6, 8)).toEqual([2, 4, 5, 6, 8]);
    expect(gather(10)).toEqual([]);
  });

  it('are handed over at the end of the shard', () => {
    const { gather, end } = batchingWindow(1_000);

    expect(gather(2)).toEqual([]);
    expect(end()).toEqual([2]);
  });

  it('that the function does not get wait for nothing, unless others wait before them', () => {
    const { gather } = batchingWindow(1_000);

    expect(gather(1, 3)).toEqual([1, 3]);
    expect(gather(2, 5)).toEqual([]);
    expect(gather(7)).toEqual([]);
  });

  it('are handed over at once without a window', () => {
    expect(batchingWindow(0).gather(2)).toEqual([2]);
  });
});
