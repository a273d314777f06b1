import { describe, expect, it } from 'vitest';

import { createQueueTurns } from '../../../../../../lambda/application/send/rate/queue-turns.ts';
import { aKey, aMessage, aRecipient, pending, processing, sent } from '../../../../../support/builders.ts';
import { createFakeClock, T0 } from '../../../../../support/clock.ts';
import { createSenderWorld, type SenderWorld } from '../../../../../support/sender-world.ts';

const ids = (n: number): string[] => Array.from({ length: n }, (_, i) => `a-${i + 1}`);
const messagesFor = (applyIds: readonly string[]) =>
  applyIds.map((applyId, i) => aMessage({ key: aKey(applyId), id: `m-${i + 1}` }));
const HOUR = 3_600_000;

/** Uses up what the bucket holds, so that the next call must wait. */
const emptyBucket = async ({ pacer, clock }: SenderWorld): Promise<void> => {
  await clock.sleep(await pacer.book(1));
};

describe('rows that are not due yet', () => {
  const notDue = ids(10);

  it('cost no pace, and a due one after them goes out as soon as it would have alone', async () => {
    const options = { applyIds: ids(11), maxSendRate: 5, random: () => 0 };
    const [alone, among] = [createSenderWorld(options), createSenderWorld(options)];
    for (const applyId of notDue) among.recipients.put(aKey(applyId), aRecipient(pending({ nextAttemptAt: T0 + HOUR })));
    for (const world of [alone, among]) await emptyBucket(world);

    await alone.send(messagesFor(['a-11']));
    const actions = await among.send(messagesFor(ids(11)));

    expect(among.provider.calls.map(({ tags }) => tags.applyId)).toEqual(['a-11']);
    expect(among.clock.now()).toBe(alone.clock.now());
    expect(await among.pacer.book(4)).toBe(await alone.pacer.book(4));
    expect(actions.slice(0, 10)).toEqual(notDue.map(() => ({ do: 'wait', until: T0 + HOUR })));
  });

  it('cost no time in Lambda at all when there is nothing else', async () => {
    const world = createSenderWorld({ applyIds: notDue, maxSendRate: 1 });
    for (const applyId of notDue) world.recipients.put(aKey(applyId), aRecipient(pending({ nextAttemptAt: T0 + HOUR })));
    await emptyBucket(world);
    const before = world.clock.slept.length;

    await world.send(messagesFor(notDue));

    expect(world.clock.slept.slice(before)).toEqual([]);
    expect(world.provider.calls).toEqual([]);
  });

  it.each([
    ['a mail that was sent', sent(), 'delete'],
    ['a mail that another sender has in hand', processing({ lease: { token: 'l-9', until: T0 + HOUR } }), 'wait'],
  ])('are set aside by what they are: %s', async (_name, row, expected) => {
    const world = createSenderWorld({ applyIds: ids(3), maxSendRate: 2, random: () => 0 });
    world.recipients.put(aKey('a-1'), aRecipient(row));
    await emptyBucket(world);

    const actions = await world.send(messagesFor(ids(3)));

    expect(actions[0]?.do).toBe(expected);
    expect(world.provider.calls[0]?.tags.applyId).toBe('a-2');
  });

  it('are claimed all the same when the table does not tell what they are', async () => {
    const world = createSenderWorld({ applyIds: ids(2), maxSendRate: 5, random: () => 0 });
    world.recipients.outage = (command) => command === 'find';
    await emptyBucket(world);

    expect(await world.send(messagesFor(ids(2)))).toEqual([{ do: 'delete' }, { do: 'delete' }]);
  });
});

describe('a sender', () => {
  it.each([0.5, 1, 2, 5, 14, 100])('of %d mails a second never sleeps for more than a second at a time', async (maxSendRate) => {
    const world = createSenderWorld({ applyIds: ids(40), maxSendRate, random: () => 0.99 });
    await world.queue.send(ids(40).map((applyId) => ({ key: aKey(applyId), delaySeconds: 0 })));

    await world.run();

    expect(world.statuses()).toEqual(new Array(40).fill('SENT'));
    expect(Math.max(0, ...world.clock.slept)).toBeLessThanOrEqual(1_000);
    expect(world.queue.deadLetters).toEqual([]);
  });

  it.each([0.05, 0.5, 1])('of %d mails a second hides no message for more than 15 s because of its pace', async (maxSendRate) => {
    const world = createSenderWorld({ applyIds: ids(30), maxSendRate });
    await world.queue.send(ids(30).map((applyId) => ({ key: aKey(applyId), delaySeconds: 0 })));

    await world.run(600_000);

    expect(world.queue.hides.length).toBeGreaterThan(0);
    expect(Math.max(...world.queue.hides.map(({ seconds }) => seconds))).toBeLessThanOrEqual(15);
  });

  it('keeps to two seconds of pace for a batch of that size, as all of it is sent in one invocation', async () => {
    // Two senders share 14 mails a second; ten messages are less than two seconds of one.
    const world = createSenderWorld({ applyIds: ids(10), maxSendRate: 7, random: () => 0 });
    await emptyBucket(world);
    const begun = world.clock.now();

    const actions = await world.send(messagesFor(ids(10)));

    expect(actions).toEqual(ids(10).map(() => ({ do: 'delete' })));
    expect(world.clock.now() - begun).toBeLessThanOrEqual(2_000);
  });
});

describe('turns on the queue', () => {
  const turnsOf = (paceMs: number, random: number) => {
    const clock = createFakeClock();
    const turns = createQueueTurns({
      pacer: { expect: (n) => Promise.resolve(n * paceMs) },
      clock: clock.now,
      random: () => random,
    });
    return { clock, next: async () => (await turns.next()) - clock.now() };
  };

  it('follow one another at the pace, over invocations', async () => {
    const { clock, next } = turnsOf(2_000, 0);

    expect([await next(), await next()]).toEqual([2_000, 4_000]);
    clock.advance(1_000);
    expect(await next()).toBe(5_000);
    clock.advance(60_000);
    expect(await next()).toBe(2_000);
  });

  it('are spread over the last fifth, and over 12 to 15 s when there are too many', async () => {
    const { next } = turnsOf(10_000, 0.5);

    expect([await next(), await next(), await next()]).toEqual([9_000, 13_500, 13_500]);
  });
});
