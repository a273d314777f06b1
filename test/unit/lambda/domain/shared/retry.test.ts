import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { isAllDone, retry, type RetryPolicy, retryWaitMs, type Tried } from '../../../../../lambda/domain/shared/retry.ts';
import { createFakeClock, T0 } from '../../../../support/clock.ts';

/** Fails so many times, and then gives the number of the call. */
const failing =
  (failures: number) =>
  (n: number): Promise<Tried<number, string>> =>
    Promise.resolve(n > failures ? { done: true, result: n } : { done: false, failure: `failure ${n}` });

const run = async (policy: RetryPolicy, failures: number, random = 0.999_999) => {
  const clock = createFakeClock();
  const tried = await retry({ random: () => random, sleep: clock.sleep, clock: clock.now }, policy, failing(failures));
  return { tried, slept: clock.slept.map(Math.round), now: clock.now() };
};

describe('a call that fails', () => {
  it('is not repeated, and nothing waits, when the first one succeeds', async () => {
    expect(await run({ baseMs: 100 }, 0)).toMatchObject({ tried: { done: true, result: 1 }, slept: [] });
  });

  it('is repeated until it succeeds, each time after twice the wait, up to the longest one', async () => {
    const { tried, slept } = await run({ baseMs: 100, capMs: 350 }, 4);

    expect(tried).toEqual({ done: true, result: 5 });
    expect(slept).toEqual([100, 200, 350, 350]);
  });

  it('gives its last failure when the calls are used up, without a wait after it', async () => {
    const { tried, slept } = await run({ baseMs: 100, tries: 3 }, 9);

    expect(tried).toEqual({ done: false, failure: 'failure 3' });
    expect(slept).toEqual([100, 200]);
  });

  it('gives its last failure when the next wait would end too late', async () => {
    const { tried, now } = await run({ baseMs: 100, giveUpAt: () => T0 + 310 }, 9);

    expect(tried).toEqual({ done: false, failure: 'failure 3' });
    expect(now).toBeLessThanOrEqual(T0 + 310);
  });

  it('is not repeated when it throws', async () => {
    const clock = createFakeClock();
    const thrown = retry({ random: () => 0, sleep: clock.sleep }, { baseMs: 100 }, () => Promise.reject(new Error('a bug')));

    await expect(thrown).rejects.toThrow('a bug');
    expect(clock.slept).toEqual([]);
  });
});

it('a wait is between half and all of its longest, whatever the policy', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000 }),
      fc.integer({ min: 1, max: 5_000 }),
      fc.integer({ min: 1, max: 20 }),
      fc.double({ min: 0, max: 0.999_999, noNaN: true }),
      (baseMs, capMs, n, random) => {
        const longest = Math.min(capMs, baseMs * 2 ** (n - 1));
        const wait = retryWaitMs({ baseMs, capMs }, n, random);
        expect(wait).toBeGreaterThanOrEqual(longest / 2);
        expect(wait).toBeLessThanOrEqual(longest);
      },
    ),
  );
});

it('parts of many are repeated until none is open', async () => {
  const clock = createFakeClock();
  let open = ['a', 'b', 'c'];
  const calls: number[] = [];

  await retry({ random: () => 0, sleep: clock.sleep }, { baseMs: 100, tries: 5 }, () => {
    calls.push(open.length);
    open = open.slice(1);
    return Promise.resolve(isAllDone(open));
  });

  expect(calls).toEqual([3, 2, 1]);
});
