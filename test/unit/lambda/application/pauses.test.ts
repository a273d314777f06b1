import { describe, expect, it } from 'vitest';

import type { SendAnswer } from '../../../../lambda/domain/send-answer.ts';
import { aKey, aMessage, aRecipient, exhausted, failed, pending, processing, sent } from '../../../support/builders.ts';
import { T0 } from '../../../support/clock.ts';
import { accepted, accountTrouble, permanent, throttledAnswer, transient, unclear } from '../../../support/fakes.ts';
import { createSenderWorld, type SenderWorld } from '../../../support/sender-world.ts';

const HOUR = 3_600_000;
const ids = (n: number): string[] => Array.from({ length: n }, (_, i) => `a-${i + 1}`);
const enqueue = (world: SenderWorld, n: number) =>
  world.queue.send(ids(n).map((applyId) => ({ key: aKey(applyId), delaySeconds: 0 })));
const byOperator = { version: 1, pause: { by: 'operator', who: 'operator-1', since: T0 } } as const;

describe('trouble of the account', () => {
  it('pauses sending, fails nobody, and is told once (S9, U18)', async () => {
    const world = createSenderWorld({
      applyIds: ids(30),
      answer: (_call, n) => (n <= 10 ? { kind: 'accepted', messageId: `ses-${n}` } : accountTrouble),
    });
    await enqueue(world, 30);

    await world.run(30_000);

    expect(world.sending.state.pause).toMatchObject({ by: 'service', code: 'ACCOUNT_SENDING_PAUSED' });
    expect(world.statuses().filter((status) => status === 'SENT')).toHaveLength(10);
    expect(world.statuses().filter((status) => status === 'PENDING')).toHaveLength(20);
    expect(world.pauses).toEqual([{ type: 'paused', code: 'ACCOUNT_SENDING_PAUSED' }]);
    // The chunk that met it is all that was in flight.
    expect(world.provider.calls).toHaveLength(20);
  });

  it('for a day sends one mail a while to try, and resumes by itself (S6)', async () => {
    const over = T0 + 24 * HOUR;
    const world = createSenderWorld({
      applyIds: ids(12),
      answer: (_call, n) => (n <= 5 || world.clock.now() >= over ? { kind: 'accepted', messageId: `ses-${n}` } : accountTrouble),
    });
    await enqueue(world, 12);

    await world.run(25 * HOUR);

    expect(world.statuses()).toEqual(new Array(12).fill('SENT'));
    expect(world.sending.state.pause).toBeUndefined();
    expect(world.pauses.at(-1)).toMatchObject({ type: 'resumed' });
    expect(world.queue.deadLetters).toEqual([]);
    for (const { recipient } of world.recipients.all()) expect(recipient.attemptCount).toBe(1);
    // Six probes an hour, a day long, and the mails themselves.
    expect(world.provider.calls.length).toBeLessThan(24 * 7 + 30);
  });

  it('waits twice as long after each probe that fails, ten minutes at most', async () => {
    const world = createSenderWorld({ applyIds: ids(3), answer: () => accountTrouble });
    await enqueue(world, 3);
    const waits: number[] = [];
    const change = world.sending.change.bind(world.sending);
    world.sending.change = (next) => {
      if (next.pause?.by === 'service' && next.pause.probeUntil === undefined) waits.push(next.pause.seconds);
      return change(next);
    };

    await world.run(HOUR);

    expect(waits.slice(0, 6)).toEqual([60, 120, 240, 480, 600, 600]);
  });
});

describe('a run of trouble', () => {
  it.each([
    ['answers that pass', transient],
    ['unclear answers', unclear],
  ])('of ten recipients in a row pauses sending: %s', async (_name, answer) => {
    const world = createSenderWorld({ applyIds: ids(30), answer: () => answer });
    await enqueue(world, 30);

    await world.run(5_000);

    expect(world.sending.state.pause).toMatchObject({ by: 'service', code: 'TROUBLE_IN_A_ROW', seconds: 60 });
    expect(world.provider.calls.length).toBeLessThanOrEqual(20);
  });

  it('that one mail interrupts does not', async () => {
    const world = createSenderWorld({
      applyIds: ids(18),
      answer: (_call, n) => (n % 9 === 0 ? { kind: 'accepted', messageId: `ses-${n}` } : transient),
    });
    await enqueue(world, 18);

    await world.run(5_000);

    expect(world.sending.state.pause).toBeUndefined();
  });

  it('of one recipient does not', async () => {
    const world = createSenderWorld({ answer: () => transient });
    await enqueue(world, 1);

    await world.run();

    expect(world.pauses).toEqual([]);
    expect(world.statuses()).toEqual(['FAILED']);
  });
});

describe('a probe', () => {
  const paused = { version: 4, pause: { by: 'service', code: 'C', since: T0 - 60_000, until: T0, seconds: 60 } } as const;
  const worldOf = (answer: SendAnswer, n = 5) => {
    const world = createSenderWorld({ applyIds: ids(n), answer: () => answer });
    world.sending.state = paused;
    return world;
  };
  const messages = ids(5).map((applyId, i) => aMessage({ key: aKey(applyId), id: `m-${i}` }));

  it('is one mail, and all go on when it goes well', async () => {
    const world = worldOf(accepted);

    await world.send(messages);

    expect(world.statuses()).toEqual(new Array(5).fill('SENT'));
    expect(world.sending.state).toMatchObject({ version: 6, resumedAt: expect.any(Number) as number });
  });

  it.each([
    ['refuses the mail for itself', permanent],
    ['asks for a slower pace', throttledAnswer],
  ])('goes well also when SES %s', async (_name, answer) => {
    const world = worldOf(answer);

    await world.send(messages);

    expect(world.sending.state.pause).toBeUndefined();
  });

  it('that fails leaves all others alone', async () => {
    const world = worldOf(transient);

    const actions = await world.send(messages);

    expect(world.provider.calls).toHaveLength(1);
    expect(world.sending.state.pause).toMatchObject({ seconds: 120 });
    expect(actions.slice(1)).toEqual(new Array(4).fill({ do: 'requeue', until: world.clock.now() + 120_000 }));
  });

  it('is made by one of many senders', async () => {
    const world = worldOf(accepted);
    const other = createSenderWorld({ applyIds: ids(5), answer: () => accepted });
    other.sending.read = () => Promise.resolve(paused);
    other.sending.change = () => Promise.resolve(false);

    await Promise.all([world.send(messages), other.send(messages)]);

    expect(other.provider.calls).toEqual([]);
  });

  it('clears only the pause that it saw: an operator’s meanwhile stays', async () => {
    const world = createSenderWorld({
      applyIds: ids(5),
      answer: () => {
        world.sending.state = { version: 6, pause: { by: 'operator', who: 'operator-1', since: T0 } };
        return accepted;
      },
    });
    world.sending.state = paused;

    await world.send(messages);

    expect(world.sending.state.pause).toMatchObject({ by: 'operator' });
    expect(world.pauses).toEqual([]);
  });

  it('that goes well lets nobody go on under an operator’s pause that was set meanwhile', async () => {
    const world = createSenderWorld({
      applyIds: ids(5),
      answer: () => {
        world.sending.state = { version: 6, pause: { by: 'operator', who: 'operator-1', since: T0 } };
        return accepted;
      },
    });
    world.sending.state = paused;

    await world.send(messages);

    expect(world.provider.calls).toHaveLength(1);
    expect(world.statuses().filter((status) => status === 'PENDING')).toHaveLength(4);
  });

  it('that could not be made yet is not made under an operator’s pause', async () => {
    const world = worldOf(accepted);
    // Claimed as the probe, and then there was no time for the call.
    let isSlow = true;
    const claimAll = world.recipients.claimAll.bind(world.recipients);
    world.recipients.claimAll = (claims, now) => {
      if (isSlow) world.clock.advance(6_000);
      return claimAll(claims, now);
    };
    await world.send(messages.slice(0, 1), 15_000);
    isSlow = false;
    world.sending.state = { version: 6, pause: { by: 'operator', who: 'operator-1', since: T0 } };

    await world.send(messages.slice(1));

    expect(world.provider.calls).toEqual([]);
  });

  it('of a mail that cannot be rendered says nothing: the next one is tried', async () => {
    const world = createSenderWorld({
      applyIds: ids(5),
      answer: () => accountTrouble,
      renderer: {
        render: (_dispatchId, _content, { applyId }) =>
          applyId === 'a-1' ? { ok: false, code: 'RENDERING_FAULT' } : { ok: true, mail: { subject: 's', text: 't' } },
      },
    });
    world.sending.state = paused;

    await world.send(messages);

    expect(world.provider.calls).toHaveLength(1);
    expect(world.sending.state.pause).toMatchObject({ seconds: 120 });
  });

  it('is not taken by one that has nothing to send', async () => {
    const world = worldOf(accepted);
    world.dispatches.set('other', { status: 'STOPPED' });
    world.sending.state = paused;

    await world.send([aMessage({ key: aKey('a-1', 'other') })]);

    expect(world.sending.state).toEqual(paused);
  });

  it('is made with the next recipient when one needs no mail any more', async () => {
    const world = worldOf(accepted);
    world.recipients.put(aKey('a-1'), aRecipient(sent()));

    await world.send(messages);

    expect(world.provider.calls).toHaveLength(4);
    expect(world.sending.state.pause).toBeUndefined();
  });
});

describe('an operator’s pause', () => {
  it('lets nothing be sent, and no trouble of the account takes its place', async () => {
    const world = createSenderWorld({ answer: () => accountTrouble });
    world.sending.state = byOperator;
    await enqueue(world, 1);

    await world.run(12 * HOUR);

    expect(world.provider.calls).toEqual([]);
    expect(world.sending.state).toEqual(byOperator);
  });

  it('of a day keeps 50 messages off the senders’ hands and out of the dead letters; all are sent afterwards (Q7)', async () => {
    const world = createSenderWorld({ applyIds: ids(50), answer: (_call, n) => ({ kind: 'accepted', messageId: `ses-${n}` }) });
    world.sending.state = byOperator;
    await enqueue(world, 50);

    await world.run(24 * HOUR);
    expect(world.queue.hides).toEqual([]);
    world.sending.state = { version: 2, resumedAt: world.clock.now() };
    await world.run(HOUR);

    expect(world.statuses()).toEqual(new Array(50).fill('SENT'));
    expect(world.queue.deadLetters).toEqual([]);
  });
});

describe('a message that comes while sending is paused', () => {
  const later = { do: 'requeue', until: T0 + 900_000 };

  it.each([
    ['a pending row is replaced, fifteen minutes later', pending(), later],
    [
      'a pending row due later is replaced by one that comes then',
      pending({ nextAttemptAt: T0 + HOUR }),
      { do: 'requeue', until: T0 + HOUR },
    ],
    ['a row under way is replaced', processing({ lease: { token: 'theirs', until: T0 + 60_000 } }), later],
    [
      'a row whose lease is over is noted on the ledger and deleted',
      processing({ lease: { token: 'theirs', until: T0 } }),
      { do: 'delete' },
    ],
    ['a row that was sent is deleted', sent(), { do: 'delete' }],
    ['a row that failed is deleted', failed(), { do: 'delete' }],
    ['used-up attempts as their own message keeps failing', exhausted(), { do: 'keep-failing' }],
  ])('for %s', async (_name, row, expected) => {
    const world = createSenderWorld();
    world.sending.state = byOperator;
    world.recipients.put(aKey(), aRecipient(row));

    expect(await world.send([aMessage()])).toEqual([expected]);
    expect(world.provider.calls).toEqual([]);
    expect(world.recipients.get(aKey())?.recipient).toEqual(row);
  });

  it('reopens its recipient if it was redriven (Q6b)', async () => {
    const world = createSenderWorld();
    world.sending.state = byOperator;
    world.recipients.put(aKey(), aRecipient(exhausted()));

    expect(await world.send([aMessage({ sentAt: T0 + 1 })])).toEqual([{ do: 'delete' }]);
    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'PENDING', round: 2 });
  });
});

describe('a sender that finds the sweeper’s last pass long ago (U8)', () => {
  it('sends nothing until the sweeper has looked', async () => {
    const world = createSenderWorld();
    world.sending.lastPass = T0 - 24 * HOUR - 1;

    const [action] = await world.send([aMessage()]);

    expect(action).toMatchObject({ do: 'requeue' });
    expect(world.provider.calls).toEqual([]);

    world.sending.lastPass = world.clock.now();
    world.clock.advance(5_000);
    await world.send([aMessage()]);
    expect(world.statuses()).toEqual(['SENT']);
  });
});

describe('while the table does not say whether sending is paused', () => {
  it('nothing is sent', async () => {
    const world = createSenderWorld();
    world.sending.outage = true;

    const [action] = await world.send([aMessage()]);

    expect(action?.do).toBe('requeue');
    expect(world.provider.calls).toEqual([]);
  });
});
