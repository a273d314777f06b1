import { describe, expect, it } from 'vitest';

import { aKey, aMessage, aRecipient, exhausted, pending } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';
import { transient } from '../../../../support/fakes.ts';
import { createSenderWorld } from '../../../../support/sender-world.ts';

const worldOfExhausted = () => {
  const world = createSenderWorld();
  world.recipients.put(aKey(), aRecipient(exhausted()));
  return world;
};

const dead = (receiveCount: number) => aMessage({ id: 'm-1', sentAt: T0, receiveCount });
const redriven = (receiveCount = 1) => aMessage({ id: 'm-1', sentAt: T0 + 60_000, receiveCount });
const stray = aMessage({ id: 'm-2', sentAt: T0 + 30_000 });

describe('the message of a recipient whose attempts are used up (Q4, Q6b)', () => {
  it.each([8, 9, 10, 11])('keeps failing at receive %i, so that SQS moves it', async (receiveCount) => {
    expect(await worldOfExhausted().send([dead(receiveCount)])).toEqual([{ do: 'keep-failing' }]);
  });

  it.each([9, 10, 11])('is never replaced when there is no time left at receive %i', async (receiveCount) => {
    const [action] = await worldOfExhausted().send([dead(receiveCount)], 1_000);

    expect(action?.do).toBe('wait');
  });

  it.each([9, 10, 11])('is never replaced when the table gives no answer at receive %i', async (receiveCount) => {
    const world = worldOfExhausted();
    world.recipients.outage = () => true;

    const [action] = await world.send([dead(receiveCount)]);

    expect(action?.do).toBe('wait');
  });

  it('is never replaced when the write that made it the dead one got no answer', async () => {
    const world = createSenderWorld({ answer: () => transient });
    world.recipients.put(aKey(), aRecipient(pending({ attemptCount: 6 })));
    world.recipients.outage = (step) => step === 'write';

    const [action] = await world.send([dead(7)]);

    expect(action?.do).toBe('wait');
  });

  it.each([9, 10, 11])(
    'is never replaced when the write that used up its attempts got no answer at receive %i',
    async (receiveCount) => {
      const world = createSenderWorld();
      world.recipients.put(aKey(), aRecipient(pending({ attemptCount: 7 })));
      const writeAll = world.recipients.writeAll.bind(world.recipients);
      world.recipients.writeAll = async (writes) => (await writeAll(writes)).map(() => 'unavailable' as const);

      const [action] = await world.send([dead(receiveCount)]);

      expect(action?.do).toBe('wait');
      expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'FAILED', deadMessage: { id: 'm-1' } });
    },
  );

  it.each([
    ['before', [stray, dead(3)], ['delete', 'keep-failing']],
    ['after', [dead(3), stray], ['keep-failing', 'delete']],
  ])('keeps failing with a stray %s it in the same batch', async (_name, messages, expected) => {
    const actions = await worldOfExhausted().send(messages);

    expect(actions.map((action) => action.do)).toEqual(expected);
  });
});

describe('a redriven message', () => {
  it('reopens its recipient with a stray before it in the same batch', async () => {
    const world = worldOfExhausted();

    const actions = await world.send([stray, redriven()]);

    expect(actions).toEqual([{ do: 'delete' }, { do: 'delete' }]);
    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'PENDING', round: 2, attemptCount: 0 });
  });

  it.each([1, 9, 10, 11])('is never replaced when it could not reopen at receive %i', async (receiveCount) => {
    const world = worldOfExhausted();
    world.recipients.outage = (step) => step === 'reopen';

    const [action] = await world.send([redriven(receiveCount)]);

    expect(action?.do).toBe('wait');
  });
});

describe('a message about to be taken for poison', () => {
  it('is replaced when its recipient is known to be open and there is no time left', async () => {
    const [action] = await createSenderWorld().send([aMessage({ receiveCount: 10 })], 1_000);

    expect(action?.do).toBe('requeue');
  });
});
