import { describe, expect, it, vi } from 'vitest';

import type { Pause } from '../../../../../lambda/domain/sending/pause.ts';
import { aKey, aMessage, anAttempt, aRecipient, pending, processing, sent } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';
import { accountTrouble, answered503, permanent, throttledAnswer, transient, unclear } from '../../../../support/fakes.ts';
import { createSenderWorld, type SenderWorld, type WorldOptions } from '../../../../support/sender-world.ts';

const LEASE_END = T0 + 300_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Start, time until the call and for the call of 10 s each, and margin of 60 s. */
const BEYOND = T0 + 80_001;
const OPERATOR: Pause = { by: 'operator', who: 'admin-1', since: T0 };

/** A worker claimed at T0 and died; its lease is over now, and a message has noted that. */
const worldAfterDeath = (options: WorldOptions = {}, attemptCount = 1) => {
  const world = createSenderWorld(options);
  world.recipients.put(aKey(), {
    ...aRecipient(processing({ attemptCount, lease: { token: 'dead', until: LEASE_END } })),
    attempts: [anAttempt({ lease: 'dead', n: attemptCount })],
  });
  world.clock.to(LEASE_END);
  return world;
};
const noted = async (options: WorldOptions = {}) => {
  const world = worldAfterDeath(options);
  await world.ledger.add([{ key: aKey(), lease: 'dead', dueAt: LEASE_END }]);
  return world;
};
const types = (world: SenderWorld) => world.signals.map(({ type }) => type);
const item = (world: SenderWorld) => [...world.ledger.items.values()][0];
const confirm = (world: SenderWorld) =>
  world.recipients.applyPatch(aKey(), (row) => ({ ...row, recipient: { ...sent(), round: row.recipient.round } }));
const walkEveryMinute = async (world: SenderWorld, minutes: number) => {
  for (let i = 0; i < minutes && world.ledger.items.size > 0; i += 1) {
    await world.walk();
    world.clock.advance(MINUTE);
  }
};

describe('an attempt of which nobody knows, under auto', () => {
  it('is followed by the next once SES’s events are silent about it, also after another delivery (L2)', async () => {
    const world = worldAfterDeath();
    await world.feedback.moveWatermark(BEYOND);

    expect(await world.send([aMessage()])).toEqual([{ do: 'delete' }]);
    await world.walk();
    expect(world.statuses()).toEqual(['PROCESSING']);
    expect(item(world)).toMatchObject({ silentAt: world.clock.now() });
    await world.run();

    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'SENT', attemptCount: 2 });
    expect(world.recipients.get(aKey())?.attempts).toMatchObject([{ outcome: 'unsent' }, { outcome: 'sent' }]);
    expect(types(world)).toEqual(['unsent', 'sent']);
    expect(world.ledger.items.size).toBe(0);
  });

  it.each([
    ['no event was ever applied', undefined],
    ['only events of mails sent about the same time were applied (L4b)', BEYOND - 1],
  ])('waits when %s, and a canary is sent', async (_name, watermark) => {
    const world = await noted();
    if (watermark !== undefined) await world.feedback.moveWatermark(watermark);

    await world.walk();

    // The lease stays what it was: an alarm on overdue rows sees this one.
    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ lease: { token: 'dead', until: LEASE_END } });
    expect(world.provider).toMatchObject({ calls: [], canaries: 1 });
    expect(types(world)).toEqual(['canary']);
  });

  it('is sent again on a quiet day once the canary’s event has come (L4)', async () => {
    const world = await noted();
    await world.walk();
    await world.feedback.moveWatermark(LEASE_END);

    await world.run();

    expect(world.statuses()).toEqual(['SENT']);
    expect(world.provider.calls).toHaveLength(1);
  });

  it('becomes UNKNOWN when no event comes for an hour after a canary, with no second mail (L4, S1)', async () => {
    const world = createSenderWorld({ answer: () => unclear });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);

    await world.run();

    expect(world.statuses()).toEqual(['UNKNOWN']);
    expect(world.provider.calls).toHaveLength(1);
    expect(world.clock.now() - T0).toBeGreaterThan(HOUR);
    expect(world.clock.now() - T0).toBeLessThan(2 * HOUR);
    expect(world.queue.deadLetters).toEqual([]);
  });

  it('is sent at most twice when answer and events of each mail are lost, then UNKNOWN, never FAILED (V1, V29)', async () => {
    const world = createSenderWorld({ answer: () => unclear });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);
    // Others’ events come all the time.
    const busy = world.feedback.read.bind(world.feedback);
    world.feedback.read = () => {
      world.feedback.state = { ...world.feedback.state, watermark: world.clock.now() };
      return busy();
    };

    await world.run();

    expect(world.provider.calls).toHaveLength(2);
    expect(world.statuses()).toEqual(['UNKNOWN']);
    expect(world.queue.deadLetters).toEqual([]);
  });

  it('is sent at most twice though SES throttles 25 times in between (V34)', async () => {
    const world = createSenderWorld({ answer: (_call, n) => (n === 1 || n > 26 ? unclear : throttledAnswer) });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);
    await world.feedback.moveWatermark(T0 + 100 * HOUR);

    await world.run();

    expect(world.provider.taken).toHaveLength(2);
    expect(world.statuses()).toEqual(['UNKNOWN']);
  });

  it.each([
    ['is refused for good', permanent, 'MESSAGE_REJECTED'],
    ['fails until its attempts are used up', transient, 'ATTEMPTS_EXHAUSTED'],
  ])('leaves its recipient UNKNOWN when the mail after it %s: the first may have arrived (V29)', async (_name, later, code) => {
    const world = createSenderWorld({ answer: (_call, n) => (n === 1 ? unclear : later) });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);
    await world.feedback.moveWatermark(T0 + 100 * HOUR);

    await world.run();

    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'UNKNOWN', lastErrorCode: code });
    expect(world.queue.deadLetters).toEqual([]);
    expect(types(world).at(-1)).toBe('unknown');
  });

  it('that SES answered with 503 each time ends as FAILED, and its message is the dead letter (V29, Q6b)', async () => {
    const world = createSenderWorld({ answer: () => answered503 });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);
    await world.feedback.moveWatermark(T0 + 100 * HOUR);

    await world.run();

    expect(world.provider.calls).toHaveLength(7);
    const { recipient } = world.recipients.get(aKey()) ?? {};
    expect(recipient).toMatchObject({ status: 'FAILED', attemptCount: 7, lastErrorCode: 'ATTEMPTS_EXHAUSTED' });
    expect(world.queue.deadLetters).toMatchObject([{ id: recipient?.status === 'FAILED' ? recipient.deadMessage?.id : '' }]);

    // A redrive of exactly that message reopens.
    world.queue.redrive();
    await world.invoke();
    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'PENDING', round: 2, attemptCount: 0 });
  });

  it('is decided by an event that comes before the lease is over, at no cost (S1, L3)', async () => {
    const world = createSenderWorld({ answer: () => unclear });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);
    await world.invoke();
    await confirm(world);

    await world.run();

    expect(world.provider).toMatchObject({ canaries: 0 });
    expect(world.provider.calls).toHaveLength(1);
    expect(world.ledger.items.size).toBe(0);
  });

  it('waits for an event that failed without a trace while the table was away (L5)', async () => {
    const world = await noted();
    await world.feedback.moveWatermark(BEYOND);
    await world.walk();

    // It comes again, and is applied.
    await confirm(world);
    await world.run();

    expect(world.provider.calls).toEqual([]);
    expect(world.statuses()).toEqual(['SENT']);
  });

  it.each([
    [
      'the lease has not ended by the clock of the walk',
      (world: SenderWorld) => world.ledger.add([{ key: aKey(), lease: 'dead', dueAt: T0 }]),
      -1,
    ],
    ['feedback cannot be asked', (world: SenderWorld) => Promise.resolve((world.feedback.outage = true)), 0],
    ['it cannot be told whether sending is paused', (world: SenderWorld) => Promise.resolve((world.sending.outage = true)), 0],
    ['the row cannot be written', (world: SenderWorld) => Promise.resolve((world.recipients.outage = () => true)), 0],
  ])('stays on the ledger while %s', async (_name, happens, before) => {
    const world = createSenderWorld({ policy: { unclear: 'manual' } });
    world.recipients.put(aKey(), aRecipient(processing({ lease: { token: 'dead', until: LEASE_END } })));
    if (before === 0) await world.ledger.add([{ key: aKey(), lease: 'dead', dueAt: LEASE_END }]);
    await happens(world);
    world.clock.to(LEASE_END + before);

    await world.walk();

    expect(world.statuses()).toEqual(['PROCESSING']);
    expect(world.ledger.items.size).toBe(1);
  });
});

describe('while feedback is behind', () => {
  it('nothing is sent again on silence until a lease after the last sign of it (V7)', async () => {
    const world = await noted();
    await world.feedback.moveWatermark(BEYOND);
    await world.walk();
    // Feedback drains what is five minutes old, one minute after the other.
    for (let i = 0; i < 10; i += 1) {
      world.clock.advance(MINUTE);
      await world.feedback.recordBehind(world.clock.now());
      await world.walk();
    }
    expect(world.statuses()).toEqual(['PROCESSING']);
    const last = world.clock.now();

    await walkEveryMinute(world, 10);

    expect(world.statuses()).toEqual(['PENDING']);
    expect(world.clock.now() - last).toBeGreaterThanOrEqual(5 * MINUTE);
  });
});

describe('the time that attempts wait', () => {
  it('does not pass in a pause: the last mail of the evening is looked at by the rules from the morning on (V27, V33)', async () => {
    const world = await noted();
    // A canary of 18:06 that SES took, and no event of it.
    await world.walk();
    expect(world.ledger.walks.state.canaries).toHaveLength(1);
    world.sending.state = { version: 1, pause: OPERATOR };
    for (let i = 0; i < 14 * 60; i += 1) {
      world.clock.advance(MINUTE);
      await world.walk();
    }
    expect(world.provider.canaries).toBe(1);
    world.sending.state = { version: 2, resumedAt: world.clock.now() };

    await world.walk();
    expect(world.statuses()).toEqual(['PROCESSING']);
    const morning = world.clock.now();
    await walkEveryMinute(world, 200);

    expect(world.statuses()).toEqual(['UNKNOWN']);
    expect(world.clock.now() - morning).toBeGreaterThan(55 * MINUTE);
  });

  it('is two leases at most after a night in which no walk was made', async () => {
    const world = await noted();
    await world.walk();

    world.clock.advance(14 * HOUR);
    await world.walk();

    expect(world.ledger.walks.state.seconds).toBe(600);
    expect(world.statuses()).toEqual(['PROCESSING']);
  });

  it('passes once though two walks are made at once', async () => {
    const world = await noted();
    await world.walk();
    world.clock.advance(MINUTE);

    await Promise.all([world.walk(), world.walk()]);

    expect(world.ledger.walks.state.seconds).toBe(60);
  });

  it('of round 2 begins anew (V33)', async () => {
    const world = await noted();
    await world.walk();
    world.clock.advance(MINUTE);
    await world.walk();
    const lease = { token: 'second', until: LEASE_END + HOUR };
    world.recipients.put(aKey(), aRecipient(processing({ round: 2, lease })));
    await world.ledger.add([{ key: aKey(), lease: 'second', dueAt: lease.until }]);
    world.clock.to(lease.until);

    await world.walk();

    expect([...world.ledger.items.values()]).toEqual([
      expect.objectContaining({ lease: 'second', notedAt: world.ledger.walks.state.seconds }),
    ]);
  });

  it('goes on in a dispatch that moves for hours, whoever lost an answer: nothing but the ledger is needed (V33)', async () => {
    const world = await noted();
    vi.spyOn(world.ledger, 'note').mockRejectedValueOnce(new Error('its answer was lost'));

    await walkEveryMinute(world, 200);

    expect(world.statuses()).toEqual(['UNKNOWN']);
  });
});

describe('a canary', () => {
  it('is sent once a minute at most, and is from the same From header as mails (V5)', async () => {
    const world = await noted();

    await Promise.all([world.walk(), world.walk()]);
    world.clock.advance(MINUTE - 1);
    await world.walk();
    expect(world.provider.canaries).toBe(1);
    world.clock.advance(1);
    await world.walk();

    expect(world.provider.canariesFrom).toEqual(new Array(2).fill('Recruiting <jobs@example.org>'));
  });

  it('that SES refuses is told each time; the recipient is UNKNOWN after twice the time (V6)', async () => {
    const world = await noted();
    world.provider.sendCanary = () => Promise.resolve(accountTrouble);

    await walkEveryMinute(world, 300);

    expect(types(world).slice(0, 2)).toEqual(['canary-refused', 'canary-refused']);
    expect(world.signals[0]).toMatchObject({ code: 'ACCOUNT_SENDING_PAUSED' });
    expect(world.statuses()).toEqual(['UNKNOWN']);
    expect(world.clock.now() - LEASE_END).toBeGreaterThan(2 * HOUR);
    expect(world.clock.now() - LEASE_END).toBeLessThan(2 * HOUR + 5 * MINUTE);
    // The pause is not its matter.
    expect(world.sending.state).toEqual({ version: 0 });
  });

  it.each([unclear, transient, throttledAnswer])('that SES may not have taken is not counted on: $kind', async (answer) => {
    const world = await noted();
    world.provider.sendCanary = () => Promise.resolve(answer);

    await world.walk();

    expect(world.ledger.walks.state.canaries).toEqual([]);
    expect(types(world)).toEqual([]);
  });

  it('that fails unexpectedly changes nothing', async () => {
    const world = await noted();
    world.provider.sendCanary = () => Promise.reject(new Error('a bug'));

    expect(await world.walk()).toMatchObject({ waiting: 1, finished: true });
  });

  it('is not sent in a pause, nor when nothing waits for an event', async () => {
    const world = await noted();
    world.sending.state = { version: 1, pause: OPERATOR };
    await world.walk();
    world.sending.state = { version: 2 };
    await world.feedback.moveWatermark(BEYOND);
    await world.walk();

    expect(world.provider.canaries).toBe(0);
  });
});

describe('a walk that dies', () => {
  it('before it sent the message leaves the attempt on the ledger, and the next walk sends one', async () => {
    const world = await noted({ policy: { unclear: 'resend' } });
    vi.spyOn(world.queue, 'send').mockRejectedValueOnce(new Error('killed'));

    expect(await world.walk()).toMatchObject({ failed: 1 });
    expect(world.statuses()).toEqual(['PENDING']);
    expect(world.ledger.items.size).toBe(1);
    await world.walk();

    expect(world.queue.sends).toEqual([{ key: aKey(), delaySeconds: 0 }]);
    expect(world.ledger.items.size).toBe(0);
    expect(types(world)).toEqual(['resent']);
  });

  it('before it removed the attempt sends one message more, and the recipient still gets one mail', async () => {
    const world = await noted({ policy: { unclear: 'resend' } });
    vi.spyOn(world.ledger, 'remove').mockRejectedValueOnce(new Error('killed'));

    await world.walk();
    await world.walk();
    await world.run();

    expect(world.queue.sends).toHaveLength(2);
    expect(world.provider.calls).toHaveLength(1);
    expect(world.statuses()).toEqual(['SENT']);
  });

  it.each([
    [
      'somebody claimed the recipient since',
      processing({ attemptCount: 2, lease: { token: 'theirs', until: LEASE_END + HOUR } }),
    ],
    ['its late holder recorded a failure', pending({ attemptCount: 1, nextAttemptAt: LEASE_END + 1_000 })],
    ['an event came', sent()],
  ])('finds nothing to do when %s', async (_name, recipient) => {
    const world = await noted();
    const attempts = [anAttempt({ lease: 'dead', outcome: recipient.status === 'PENDING' ? 'retry' : 'unsent' })];
    world.recipients.put(aKey(), aRecipient(recipient, recipient.status === 'PROCESSING' ? {} : { attempts }));

    await world.walk();

    expect(world.queue.sends).toEqual([]);
    expect(world.recipients.get(aKey())?.recipient).toEqual(recipient);
    expect(world.ledger.items.size).toBe(0);
  });
});

describe('two walks at once', () => {
  it('come to one conclusion and one mail', async () => {
    const world = await noted({ policy: { unclear: 'resend' } });

    await Promise.all([world.walk(), world.walk()]);
    await world.run();

    expect(world.provider.calls).toHaveLength(1);
    expect(types(world).filter((type) => type === 'resent')).toHaveLength(1);
  });
});

/** Each of them lost its worker, and stands on the ledger. */
const worldOf = async (count: number) => {
  const applyIds = Array.from({ length: count }, (_, i) => `a-${String(i).padStart(3, '0')}`);
  const world = createSenderWorld({ applyIds });
  await world.ledger.add(applyIds.map((applyId) => ({ key: aKey(applyId), lease: 'dead', dueAt: LEASE_END })));
  for (const applyId of applyIds)
    world.recipients.put(aKey(applyId), aRecipient(processing({ lease: { token: 'dead', until: LEASE_END } }), { applyId }));
  world.clock.to(LEASE_END);
  return world;
};
const NOTHING = { waiting: 0, resolved: 0, failed: 0, unreadable: 0 };

describe('a walk without time for all', () => {
  it('ends after the 25 that it handles at once, and the next goes on from there before it begins anew', async () => {
    const world = await worldOf(60);

    expect(await world.walk(() => false)).toEqual({ ...NOTHING, waiting: 25, finished: false });
    expect(await world.walk()).toEqual({ ...NOTHING, waiting: 35, finished: true });
    expect(await world.walk()).toEqual({ ...NOTHING, waiting: 60, finished: true });
  });

  it('keeps its position before it sends a canary', async () => {
    const world = await worldOf(30);
    const positions: (string | undefined)[] = [];
    world.provider.sendCanary = () => {
      positions.push(world.ledger.walks.state.position);
      return Promise.resolve(unclear);
    };

    await world.walk(() => false);

    expect(positions).toEqual([expect.stringContaining('a-024')]);
  });

  it('loses no more than some seconds of its way when it is killed', async () => {
    const world = await worldOf(100);
    const handled: string[] = [];
    const applyPatch = world.recipients.applyPatch.bind(world.recipients);
    // Each of them takes its time, and the last ones never answer.
    world.recipients.applyPatch = (key, change) => {
      handled.push(key.applyId);
      if (handled.length > 75) return new Promise(() => undefined);
      world.clock.advance(200);
      return applyPatch(key, change);
    };
    void world.walk();
    await vi.waitFor(() => {
      expect(handled).toHaveLength(100);
    });

    handled.length = 0;
    world.recipients.applyPatch = (key, change) => {
      handled.push(key.applyId);
      return applyPatch(key, change);
    };
    await world.walk();

    expect(handled).toEqual(Array.from({ length: 25 }, (_, i) => `a-0${75 + i}`));
  });

  it('writes no position if it is quick', async () => {
    const world = await worldOf(100);
    const keepPosition = vi.spyOn(world.ledger.walks, 'keepPosition');

    await world.walk();

    expect(keepPosition).not.toHaveBeenCalled();
  });
});

describe('an attempt that nobody can resolve', () => {
  it('since its row cannot be read is counted in each walk, and its row is read again every 15 minutes', async () => {
    const world = await worldOf(3);
    let reads = 0;
    const applyPatch = world.recipients.applyPatch.bind(world.recipients);
    world.recipients.applyPatch = (key, change) => {
      if (key.applyId !== 'a-001') return applyPatch(key, change);
      reads += 1;
      return Promise.resolve('unreadable');
    };

    for (let minute = 0; minute < 30; minute += 1) {
      expect(await world.walk()).toEqual({ ...NOTHING, waiting: 2, unreadable: 1, finished: true });
      world.clock.advance(MINUTE);
    }
    expect(reads).toBe(2);

    // A person corrected the row.
    world.recipients.applyPatch = applyPatch;
    await world.walk();
    expect(await world.walk()).toEqual({ ...NOTHING, waiting: 3, finished: true });
  });

  it('since its item cannot be read is counted, and keeps no other from being walked to', async () => {
    const world = await worldOf(30);
    const due = world.ledger.due.bind(world.ledger);
    world.ledger.due = async function* (now, after) {
      yield { items: [], unreadable: 25, position: '' };
      yield* due(now, after);
    };

    expect(await world.walk()).toEqual({ ...NOTHING, waiting: 30, unreadable: 25, finished: true });
  });
});

it('an attempt waits anew after the clock of the walks was lost', async () => {
  const world = await noted();
  world.ledger.walks.state = { seconds: 1_000_000, canaries: [] };
  await walkEveryMinute(world, 50);
  world.ledger.walks.state = { seconds: 0, canaries: [] };
  const lostAt = world.clock.now();

  await walkEveryMinute(world, 200);

  expect(world.statuses()).toEqual(['UNKNOWN']);
  expect(world.clock.now() - lostAt).toBeGreaterThan(HOUR);
  expect(world.clock.now() - lostAt).toBeLessThan(HOUR + 5 * MINUTE);
});
