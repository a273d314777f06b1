import { expect, it } from 'vitest';

import { createSemaphore } from '../../../../../local/lambda-host/event-sources/semaphore.ts';

const settled = async (promise: Promise<void>): Promise<boolean> =>
  Promise.race([promise.then(() => true), new Promise<boolean>((done) => setImmediate(done, false))]);

it('lets no more in than there are slots, and the next one when a slot is given back', async () => {
  const slots = createSemaphore(2);
  await slots.take();
  await slots.take();
  const third = slots.take();
  expect(await settled(third)).toBe(false);
  slots.giveBack();
  expect(await settled(third)).toBe(true);
});

it('says when all are free', async () => {
  const slots = createSemaphore(1);
  await slots.allFree();
  await slots.take();
  const free = slots.allFree();
  expect(await settled(free)).toBe(false);
  slots.giveBack();
  expect(await settled(free)).toBe(true);
});
