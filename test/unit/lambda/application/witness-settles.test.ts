import { describe, expect, it } from 'vitest';

import { aKey, aMessage, anAttempt, aRecipient, processing } from '../../../support/builders.ts';
import { T0 } from '../../../support/clock.ts';
import { accepted, unclear } from '../../../support/fakes.ts';
import { createSenderWorld, type WorldOptions } from '../../../support/sender-world.ts';

const LEASE_END = T0 + 300_000;
/** Start, time until the call and for the call of 10 s each, and margin of 60 s. */
const AWAKE = T0 + 80_001;

/** A worker claimed at T0 and died; its lease is over now. */
const worldAfterDeath = (options: WorldOptions = {}, attemptCount = 1) => {
  const world = createSenderWorld(options);
  world.recipients.put(aKey(), {
    ...aRecipient(processing({ attemptCount, lease: { token: 'dead', until: LEASE_END } })),
    attempts: [anAttempt({ lease: 'dead', n: attemptCount })],
  });
  world.clock.to(LEASE_END);
  return world;
};
const types = (world: ReturnType<typeof createSenderWorld>) => world.signals.map(({ type }) => type);

describe('an attempt of which nobody knows, under auto', () => {
  it('is followed by the next when the witness is awake and silent about it (L2)', async () => {
    const world = worldAfterDeath();
    await world.witness.moveMark(AWAKE);

    const redelivered = world.clock.now() + 70_000;
    expect(await world.send([aMessage()])).toEqual([{ do: 'requeue', until: expect.any(Number) as number }]);
    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'PROCESSING' });
    world.clock.to(redelivered + 10);
    expect(await world.send([aMessage()])).toEqual([{ do: 'delete' }]);

    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'SENT', attemptCount: 2 });
    expect(world.recipients.get(aKey())?.attempts).toMatchObject([{ outcome: 'unsent' }, { outcome: 'sent' }]);
    expect(types(world)).toEqual(['waited', 'unsent', 'sent']);
  });

  it.each([
    ['no event was ever applied', undefined],
    ['only events of mails sent about the same time were applied (L4b)', AWAKE - 1],
  ])('waits one lease more when %s, and a canary is sent', async (_name, mark) => {
    const world = worldAfterDeath();
    if (mark !== undefined) await world.witness.moveMark(mark);

    const [action] = await world.send([aMessage()]);

    const row = world.recipients.get(aKey())?.recipient;
    expect(row).toMatchObject({ status: 'PROCESSING', lease: { token: 'dead', until: world.clock.now() + 300_000 } });
    expect(action).toEqual({ do: 'requeue', until: world.clock.now() + 300_000 });
    expect(world.provider).toMatchObject({ calls: [], canaries: 1 });
    expect(types(world)).toEqual(['waited', 'canary']);
  });

  it('is sent again on a quiet day once the canary’s event has come (L4)', async () => {
    const world = worldAfterDeath();
    await world.send([aMessage()]);
    await world.witness.moveMark(LEASE_END);
    world.clock.advance(300_000);
    await world.send([aMessage()]);
    world.clock.advance(70_000);

    await world.send([aMessage()]);

    expect(world.statuses()).toEqual(['SENT']);
    expect(world.provider.calls).toHaveLength(1);
  });

  it('becomes UNKNOWN when the witness stays silent for an hour after a canary, with no second mail (L4, S1)', async () => {
    const world = createSenderWorld({ answer: () => unclear });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);

    await world.run();

    expect(world.statuses()).toEqual(['UNKNOWN']);
    expect(world.provider.calls).toHaveLength(1);
    expect(world.clock.now() - T0).toBeGreaterThan(3_600_000);
    expect(world.clock.now() - T0).toBeLessThan(2 * 3_600_000);
    expect(world.queue.deadLetters).toEqual([]);
  });

  it('waits while an event about it is stuck (E5)', async () => {
    const world = worldAfterDeath();
    await world.witness.moveMark(AWAKE);
    await world.witness.hold([{ lease: 'dead', sentAt: T0 + 50 }], T0);

    const [action] = await world.send([aMessage()]);

    expect(action?.do).toBe('requeue');
    expect(world.statuses()).toEqual(['PROCESSING']);
  });

  it('does not wait for an event about another (E5)', async () => {
    const world = worldAfterDeath();
    await world.witness.moveMark(AWAKE);
    await world.witness.hold([{ lease: 'another', sentAt: T0 + 50 }], T0);

    await world.send([aMessage()]);
    world.clock.advance(70_000);
    await world.send([aMessage()]);

    expect(world.statuses()).toEqual(['SENT']);
  });

  it('waits for an event that failed without a hold while the table was away (L5)', async () => {
    const world = worldAfterDeath();
    await world.witness.moveMark(AWAKE);
    await world.send([aMessage()]);

    // It comes again, and is applied.
    await world.recipients.amend(aKey(), (row) => ({
      ...row,
      recipient: { status: 'SENT', round: 1, attemptCount: 1, messageId: 'ses-1', sentAt: T0 },
    }));
    world.clock.advance(70_000);
    await world.send([aMessage()]);

    expect(world.provider.calls).toEqual([]);
    expect(world.statuses()).toEqual(['SENT']);
  });

  it('waits while the witness cannot be asked', async () => {
    const world = worldAfterDeath();
    world.witness.outage = true;

    const [action] = await world.send([aMessage()]);

    expect(action?.do).toBe('wait');
    expect(world.statuses()).toEqual(['PROCESSING']);
  });

  it('ends as used up when it was the last and is proven unsent: its message becomes the dead letter', async () => {
    const world = worldAfterDeath({}, 7);
    await world.witness.moveMark(AWAKE);
    await world.send([aMessage()]);
    world.clock.advance(70_000);

    const actions = await world.send([aMessage({ id: 'm-7' }), aMessage({ id: 'stray' })]);

    expect(actions).toEqual([{ do: 'keep-failing' }, { do: 'delete' }]);
    expect(world.recipients.get(aKey())?.recipient).toMatchObject({
      status: 'FAILED',
      lastErrorCode: 'ATTEMPTS_EXHAUSTED',
      deadMessage: { id: 'm-7' },
    });
  });

  it('is decided by an event that comes before the lease is over, at no cost (S1, L3)', async () => {
    const world = createSenderWorld({ answer: () => unclear });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);
    await world.invoke();
    await world.recipients.amend(aKey(), (row) => ({
      ...row,
      recipient: { status: 'SENT', round: 1, attemptCount: 1, messageId: 'ses-1', sentAt: T0 },
    }));

    await world.run();

    expect(world.provider).toMatchObject({ canaries: 0 });
    expect(world.provider.calls).toHaveLength(1);
    expect(world.queue.nextVisibleAt()).toBeUndefined();
  });
});

describe('a canary', () => {
  const applyIds = Array.from({ length: 8 }, (_, i) => `a-${i}`);

  it('is sent once for all that wait', async () => {
    const world = createSenderWorld({ applyIds, answer: () => unclear });
    await world.queue.send(applyIds.map((applyId) => ({ key: aKey(applyId), delaySeconds: 0 })));

    await world.run(400_000);

    expect(world.provider.canaries).toBe(1);
    expect(world.witness.state.canaries).toHaveLength(1);
  });

  it('that SES does not take is not counted on', async () => {
    const world = worldAfterDeath();
    world.provider.sendCanary = () => Promise.resolve(unclear);

    await world.send([aMessage()]);

    expect(world.witness.state.canaries).toEqual([]);
  });

  it('is not sent when there is no time for it', async () => {
    const world = worldAfterDeath({ answer: () => accepted });

    await world.send([aMessage()], 12_000);

    expect(world.provider.canaries).toBe(0);
  });

  it('that fails unexpectedly changes nothing', async () => {
    const world = worldAfterDeath();
    world.provider.sendCanary = () => Promise.reject(new Error('a bug'));

    const [action] = await world.send([aMessage()]);

    expect(action?.do).toBe('requeue');
  });
});
