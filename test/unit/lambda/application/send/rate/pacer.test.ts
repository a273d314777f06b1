import { expect, it } from 'vitest';

import { createPacer } from '../../../../../../lambda/application/send/rate/pacer.ts';
import { createFakeClock } from '../../../../../support/clock.ts';

const pacerOf = (rate: number, { senders = 1, parallelCalls = 10, isGuess = false } = {}) => {
  const clock = createFakeClock();
  const pacer = createPacer({
    clock: clock.now,
    sendRate: () => Promise.resolve({ perSecond: rate, isGuess }),
    rateShare: 0.9,
    senders,
    parallelCalls,
  });
  return { clock, pacer };
};

it('a new sender may make one call at once, and a chunk when its time has come', async () => {
  const { pacer } = pacerOf(10, { senders: 1 });

  expect(await pacer.chunkSize()).toBe(9);
  expect(await pacer.book(9)).toBe(Math.ceil((8 / 9) * 1000));
});

it('what was booked and not used is there for the next', async () => {
  const { pacer } = pacerOf(10);

  const first = await pacer.book(5);
  pacer.unbook(5);

  expect(await pacer.book(5)).toBe(first);
});

it('two senders share the rate', async () => {
  const { pacer } = pacerOf(20, { senders: 2 });

  expect(await pacer.expect(9)).toBe(1_000);
});

it('a throttle halves chunk and pace, and ten seconds later both are back', async () => {
  const { clock, pacer } = pacerOf(10);

  pacer.throttled();
  expect([await pacer.chunkSize(), await pacer.expect(9)]).toEqual([4, 2_000]);

  clock.advance(10_000);
  expect([await pacer.chunkSize(), await pacer.expect(9)]).toEqual([9, 1_000]);
});

it('an hour of chunks keeps to the pace', async () => {
  const { clock, pacer } = pacerOf(14, { senders: 2 });
  const startedAt = clock.now();
  let calls = 0;
  while (clock.now() < startedAt + 3_600_000) {
    const chunk = await pacer.chunkSize();
    await clock.sleep(await pacer.book(chunk));
    calls += chunk;
  }

  expect(calls).toBeGreaterThan(6.3 * 3_600 * 0.98);
  expect(calls).toBeLessThanOrEqual(6.3 * 3_600 + 6 + 6);
});

it.each([
  [false, 1_112_000],
  [true, 10_000],
])('hides what waits for its turn for no more than ten seconds while the rate is a guess: %s (V8)', async (isGuess, atMost) => {
  const { pacer } = pacerOf(1, { senders: 100, isGuess });

  expect(await pacer.expect(10)).toBeLessThanOrEqual(atMost);
  expect(await pacer.expect(10)).toBeGreaterThan(atMost - 1_000);
});

it('gives messages back to the queue rather than keep them in hand for long by a guess (V8)', async () => {
  const { pacer } = pacerOf(1, { senders: 100, isGuess: true });

  expect(await pacer.book(1)).toBe(0);
  expect(await pacer.book(1)).toBe(Infinity);
  pacer.unbook(1);
});
