import { describe, expect, it } from 'vitest';

import type { MailRenderer } from '../../../../../lambda/application/ports/provider.ts';
import { neverThrow } from '../../../../../lambda/observability/telemetry.ts';
import {
  aContent,
  aKey,
  aMessage,
  anAttempt,
  aRecipient,
  DISPATCH_ID,
  exhausted,
  failed,
  pending,
  processing,
  sent,
  unknown,
} from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';
import {
  accepted,
  accountTrouble,
  createFakeContents,
  permanent,
  plainRenderer,
  throttledAnswer,
  transient,
  unclear,
} from '../../../../support/fakes.ts';
import { createSenderWorld } from '../../../../support/sender-world.ts';

const ids = (n: number): string[] => Array.from({ length: n }, (_, i) => `a-${i + 1}`);
const messagesFor = (applyIds: readonly string[]) =>
  applyIds.map((applyId, i) => aMessage({ key: aKey(applyId), id: `m-${i + 1}` }));

describe('a message for a pending recipient', () => {
  it('sends one mail, and stores the id of SES (U3)', async () => {
    const world = createSenderWorld({ answer: () => accepted });

    const actions = await world.send([aMessage()]);

    expect(actions).toEqual([{ do: 'delete' }]);
    expect(world.provider.calls).toHaveLength(1);
    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'SENT', messageId: 'ses-1', attemptCount: 1 });
  });

  it('hands over the mail of that recipient, tagged with the attempt (E4)', async () => {
    const world = createSenderWorld({
      contents: createFakeContents({ [DISPATCH_ID]: aContent({ replyTo: 'hr@example.org' }) }),
    });

    await world.send([aMessage()]);

    expect(world.provider.calls).toEqual([
      {
        mail: {
          subject: 'Your interview',
          text: 'Dear applicant',
          from: 'Recruiting <jobs@example.org>',
          replyTo: 'hr@example.org',
          to: 'kim@example.com',
        },
        tags: { dispatchId: DISPATCH_ID, shard: 0, applyId: 'a-1', round: 1, attempt: 1, lease: 'lease-1' },
      },
    ]);
  });

  it('keeps the attempt with what became of it', async () => {
    const world = createSenderWorld({
      answer: () => {
        world.clock.advance(80);
        return accepted;
      },
    });

    await world.send([aMessage()]);

    expect(world.recipients.get(aKey())?.attempts).toMatchObject([
      { round: 1, n: 1, lease: 'lease-1', outcome: 'sent', messageId: 'ses-1', ms: 80 },
    ]);
  });

  it('sends once when two invocations have it at once (L1)', async () => {
    const world = createSenderWorld();

    const [first, second] = await Promise.all([world.send([aMessage()]), world.send([aMessage({ id: 'm-2' })])]);

    expect(world.provider.calls).toHaveLength(1);
    expect(world.statuses()).toEqual(['SENT']);
    expect([first, second].flat().map((action) => action.do)).toEqual(['delete', 'wait']);
  });

  it('sends once when two messages of one batch name it, and deletes both (Q8)', async () => {
    const world = createSenderWorld({ applyIds: ['a-1', 'a-2'] });

    const actions = await world.send([aMessage(), aMessage({ key: aKey('a-2') }), aMessage({ id: 'm-2' })]);

    expect(actions).toEqual([{ do: 'delete' }, { do: 'delete' }, { do: 'delete' }]);
    expect(world.provider.calls.map(({ tags }) => tags.applyId)).toEqual(['a-1', 'a-2']);
  });

  it.each(ids(4).map((_, i) => i))('leaves the outcome of the others alone when one fails (Q1, U5): place %i', async (place) => {
    const applyIds = ids(4);
    const world = createSenderWorld({
      applyIds,
      answer: ({ tags }) => (tags.applyId === applyIds[place] ? throttledAnswer : accepted),
    });

    const actions = await world.send(messagesFor(applyIds));

    expect(actions.map((action) => action.do)).toEqual(applyIds.map((_, i) => (i === place ? 'requeue' : 'delete')));
    expect(world.provider.calls).toHaveLength(4);
  });
});

describe('when SES throttles (S7)', () => {
  it('the attempt is given back, and a fresh message follows within seconds', async () => {
    const world = createSenderWorld({ answer: () => throttledAnswer });

    const [action] = await world.send([aMessage()]);

    const row = world.recipients.get(aKey());
    expect(row?.recipient).toMatchObject({ status: 'PENDING', attemptCount: 0, lastErrorCode: 'ACCOUNT_THROTTLED' });
    expect(row?.attempts).toMatchObject([{ outcome: 'given-back', code: 'ACCOUNT_THROTTLED' }]);
    expect(action?.do).toBe('requeue');
    expect(action).toEqual({ do: 'requeue', until: row?.recipient.status === 'PENDING' && row.recipient.nextAttemptAt });
  });

  it.each([
    [0, 1_000],
    [1, 10_000],
  ])('the wait is jittered, so that none come back in lockstep: %i', async (random, waitMs) => {
    const world = createSenderWorld({ answer: () => throttledAnswer, random: () => random });

    const [action] = await world.send([aMessage()]);

    expect(action && 'until' in action && action.until - world.clock.now()).toBe(waitMs);
  });

  it('the sender slows down', async () => {
    const world = createSenderWorld({ maxSendRate: 20, answer: () => throttledAnswer });
    const before = await world.pacer.expect(9);

    await world.send([aMessage()]);

    expect(before).toBe(500);
    expect(await world.pacer.expect(9)).toBe(1_000);
  });

  it('all throttled for an hour, nobody fails or uses up an attempt', async () => {
    const world = createSenderWorld({ applyIds: ids(30), answer: () => throttledAnswer });
    await world.queue.send(ids(30).map((applyId) => ({ key: aKey(applyId), delaySeconds: 0 })));

    await world.run(3_600_000);

    expect(world.queue.deadLetters).toEqual([]);
    for (const { recipient } of world.recipients.all()) expect(recipient).toMatchObject({ status: 'PENDING', attemptCount: 0 });
  });

  it('everybody is sent in the end when only some calls pass', async () => {
    const world = createSenderWorld({
      applyIds: ids(30),
      answer: (_call, n) => (n % 3 === 0 ? { kind: 'accepted', messageId: `ses-${n}` } : throttledAnswer),
    });
    await world.queue.send(ids(30).map((applyId) => ({ key: aKey(applyId), delaySeconds: 0 })));

    await world.run();

    expect(world.statuses()).toEqual(new Array(30).fill('SENT'));
    expect(world.provider.taken).toHaveLength(30);
    expect(world.queue.deadLetters).toEqual([]);
  });
});

describe('an account of one mail a second', () => {
  it('gets no more, and nobody is failed or dead-lettered for having to wait', async () => {
    const world = createSenderWorld({
      applyIds: ids(40),
      maxSendRate: 1,
      answer: (_call, n) => ({ kind: 'accepted', messageId: `ses-${n}` }),
    });
    await world.queue.send(ids(40).map((applyId) => ({ key: aKey(applyId), delaySeconds: 0 })));

    await world.run();

    expect(world.statuses()).toEqual(new Array(40).fill('SENT'));
    expect(world.queue.deadLetters).toEqual([]);
    // Nine tenths of the rate; the messages that have to wait are looked at again a little later than needed.
    expect((world.clock.now() - T0) / 1000).toBeGreaterThan(39 / 0.9);
    expect((world.clock.now() - T0) / 1000).toBeLessThan(2 * (40 / 0.9));
    for (const { recipient } of world.recipients.all()) expect(recipient.attemptCount).toBe(1);
  });
});

describe('trouble of the whole account', () => {
  it('gives the attempt back, and a fresh message follows (S9)', async () => {
    const world = createSenderWorld({ answer: () => accountTrouble });

    const [action] = await world.send([aMessage()]);

    expect(world.recipients.get(aKey())?.recipient).toMatchObject({
      status: 'PENDING',
      attemptCount: 0,
      lastErrorCode: 'ACCOUNT_SENDING_PAUSED',
    });
    expect(action).toEqual({ do: 'requeue', until: world.clock.now() + 60_000 });
  });

  it('for a day dead-letters nothing and fails nobody; all are sent afterwards (S6)', async () => {
    const open = T0 + 24 * 3_600_000;
    const world = createSenderWorld({
      applyIds: ids(12),
      answer: (_call, n) => (n <= 5 || world.clock.now() >= open ? { kind: 'accepted', messageId: `ses-${n}` } : accountTrouble),
    });
    world.provider.canaryAnswer = (n) =>
      world.clock.now() >= open ? { kind: 'accepted', messageId: `canary-${n}` } : accountTrouble;
    await world.queue.send(ids(12).map((applyId) => ({ key: aKey(applyId), delaySeconds: 0 })));

    await world.run(48 * 3_600_000);

    expect(world.statuses()).toEqual(new Array(12).fill('SENT'));
    expect(world.provider.taken).toHaveLength(12);
    expect(world.queue.deadLetters).toEqual([]);
    for (const { recipient } of world.recipients.all()) expect(recipient.attemptCount).toBe(1);
  });
});

describe('a passing failure', () => {
  it('is tried again when the table says so, and the message hidden until then (Q5)', async () => {
    const world = createSenderWorld({ answer: () => transient });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);

    await world.invoke();

    const row = world.recipients.get(aKey())?.recipient;
    expect(row).toMatchObject({
      status: 'PENDING',
      attemptCount: 1,
      nextAttemptAt: world.clock.now() + 22_500,
      lastErrorCode: 'NOT_CONNECTED',
    });
    expect(world.queue.hides.map(({ seconds }) => seconds)).toEqual([23]);
  });

  it('waits by formula before each attempt, from the attempts stored (Q5)', async () => {
    const calls: number[] = [];
    const world = createSenderWorld({
      answer: () => {
        calls.push(world.clock.now());
        return transient;
      },
    });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);

    await world.run();

    const waits = calls.slice(1).map((at, i) => (at - (calls[i] ?? 0)) / 1000);
    // Three quarters of 30 s × 3^k, capped at an hour: half fixed, and half of the jitter.
    for (const [i, wait] of [22.5, 67.5, 202.5, 607.5, 1_822.5, 2_700].entries()) {
      expect(waits[i]).toBeGreaterThanOrEqual(wait);
      expect(waits[i]).toBeLessThan(wait + 2);
    }
  });

  it('uses up exactly the attempts of a round, and leaves its message to the dead-letter queue (Q4)', async () => {
    const world = createSenderWorld({ answer: () => transient });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);

    await world.run();

    expect(world.provider.calls).toHaveLength(7);
    const row = world.recipients.get(aKey());
    expect(row?.recipient).toMatchObject({ status: 'FAILED', lastErrorCode: 'ATTEMPTS_EXHAUSTED', attemptCount: 7 });
    expect(row?.attempts.at(-1)).toMatchObject({ n: 7, outcome: 'retry', code: 'NOT_CONNECTED' });
    expect(world.queue.deadLetters.map(({ key }) => key)).toEqual([aKey()]);
  });

  it('gets a new round by a redrive, twice in a row, and by nothing else (Q6b)', async () => {
    const world = createSenderWorld({ answer: () => transient });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);
    await world.run();

    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);
    await world.run();
    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'FAILED', round: 1 });

    for (const round of [2, 3]) {
      world.clock.advance(60_000);
      world.queue.redrive();
      await world.run();
      expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'PENDING', round, attemptCount: 0 });

      // What the relay does once it sees the row go from FAILED to PENDING.
      await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);
      await world.run();
      expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'FAILED', round, attemptCount: 7 });
      expect(world.queue.deadLetters).toHaveLength(1);
    }
    expect(world.provider.calls).toHaveLength(21);
  });
});

describe('a refusal for good', () => {
  it('ends at once, and its message goes', async () => {
    const world = createSenderWorld({ answer: () => permanent });

    expect(await world.send([aMessage()])).toEqual([{ do: 'delete' }]);
    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'FAILED', lastErrorCode: 'MESSAGE_REJECTED' });
  });

  it.each<[string, MailRenderer, string]>([
    ['a mail that cannot be rendered', { render: () => ({ ok: false, code: 'RENDERING_FAULT' }) }, 'RENDERING_FAULT'],
    [
      'a crash of the renderer',
      {
        render: (_id, _content, { applyId }) => {
          if (applyId === 'a-2') throw new Error('bug');
          return plainRenderer.render('', aContent(), { applyId, email: '', variables: {} });
        },
      },
      'RENDERING_CRASHED',
    ],
  ])('is %s, without a call to SES', async (_name, renderer, code) => {
    const world = createSenderWorld({ applyIds: ['a-2'], renderer });

    expect(await world.send(messagesFor(['a-2']))).toEqual([{ do: 'delete' }]);
    expect(world.provider.calls).toEqual([]);
    expect(world.recipients.get(aKey('a-2'))?.recipient).toMatchObject({ status: 'FAILED', lastErrorCode: code });
  });

  it('is that of the stage, which may no longer mail a recipient: no call to SES, and the others are sent', async () => {
    const world = createSenderWorld({ applyIds: ids(3), isAllowedRecipient: (address) => address !== 'lee@other.example' });
    world.recipients.put(aKey('a-2'), { ...aRecipient(undefined, { applyId: 'a-2' }), email: 'lee@other.example' });

    expect(await world.send(messagesFor(ids(3)))).toEqual([{ do: 'delete' }, { do: 'delete' }, { do: 'delete' }]);
    const rows = ids(3).map((applyId) => world.recipients.get(aKey(applyId))?.recipient);
    expect(rows).toMatchObject([
      { status: 'SENT' },
      { status: 'FAILED', lastErrorCode: 'RECIPIENT_NOT_ALLOWED' },
      { status: 'SENT' },
    ]);
    expect(world.provider.calls.map(({ tags }) => tags.applyId)).toEqual(['a-1', 'a-3']);
    expect(world.signals.filter(({ type }) => type === 'failed')).toMatchObject([{ code: 'RECIPIENT_NOT_ALLOWED' }]);
  });

  it('of a recipient whom the stage may not mail leaves open whether an earlier mail of the round came', async () => {
    const lost = anAttempt({ n: 1, lease: 'lost', startedAt: T0 - 1_000, outcome: 'unclear', code: 'TIMED_OUT' });
    const world = createSenderWorld({ isAllowedRecipient: () => false });
    world.recipients.put(aKey(), aRecipient(pending({ attemptCount: 1 }), { attempts: [lost] }));

    await world.send([aMessage()]);

    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'UNKNOWN', lastErrorCode: 'RECIPIENT_NOT_ALLOWED' });
    expect(world.provider.calls).toEqual([]);
  });

  it('of one recipient by a crash leaves the other nine sent (Q1)', async () => {
    const world = createSenderWorld({
      applyIds: ids(10),
      renderer: {
        render: (dispatchId, content, recipientInput) => {
          if (recipientInput.applyId === 'a-7') throw new Error('bug');
          return plainRenderer.render(dispatchId, content, recipientInput);
        },
      },
    });

    await world.send(messagesFor(ids(10)));

    expect(world.statuses().filter((status) => status === 'SENT')).toHaveLength(9);
  });
});

describe('a message that meets', () => {
  it.each([
    ['one that was sent: nothing', sent(), { do: 'delete' }],
    ['one that failed for good: nothing', failed(), { do: 'delete' }],
    ['one of which nobody knows: nothing', unknown(), { do: 'delete' }],
    ['one not due yet: a wait', pending({ nextAttemptAt: T0 + 90_000 }), { do: 'wait', until: T0 + 90_000 }],
    [
      'one in other hands: a wait',
      processing({ lease: { token: 'theirs', until: T0 + 60_000 } }),
      { do: 'wait', until: T0 + 60_000 },
    ],
    ['used-up attempts as their own message: more failing', exhausted(), { do: 'keep-failing' }],
    ['used-up attempts as a stray: nothing', exhausted({ deadMessage: { id: 'm-9', sentAt: T0 } }), { do: 'delete' }],
  ])('%s', async (_name, recipient, expected) => {
    const world = createSenderWorld();
    world.recipients.put(aKey(), aRecipient(recipient));

    expect(await world.send([aMessage()])).toEqual([expected]);
    expect(world.provider.calls).toEqual([]);
  });

  it('the message of a row that is gone is deleted, and reported', async () => {
    const world = createSenderWorld({ applyIds: [] });

    expect(await world.send([aMessage()])).toEqual([{ do: 'delete' }]);
    expect(world.signals).toEqual([{ type: 'gone', key: aKey() }]);
  });

  it.each([
    ['no dispatch keeps failing, so that SQS dead-letters it (Q2)', 'unknown-dispatch', { do: 'keep-failing' }],
    ['content that cannot be read keeps failing', 'broken', { do: 'keep-failing' }],
    ['expired content is deleted', 'expired', { do: 'delete' }],
  ] as const)('%s, and the others go out', async (_name, state, expected) => {
    const world = createSenderWorld({ contents: createFakeContents({ [DISPATCH_ID]: aContent(), other: state }) });
    if (state !== 'unknown-dispatch') world.dispatches.set('other', {});

    const actions = await world.send([aMessage({ key: aKey('a-1', 'other') }), aMessage()]);

    expect(actions).toEqual([expected, { do: 'delete' }]);
    expect(world.signals.map(({ type }) => type)).toEqual([state, 'sent']);
  });
});

describe('while the table does not answer', () => {
  it('nothing is sent, and the message waits longer each time', async () => {
    const world = createSenderWorld();
    world.recipients.outage = (step) => step === 'claim';

    const [first] = await world.send([aMessage()]);
    const [fifth] = await world.send([aMessage({ receiveCount: 5 })]);

    expect(world.provider.calls).toEqual([]);
    expect([first?.do, fifth?.do]).toEqual(['wait', 'wait']);
    expect(first && 'until' in first && first.until).toBeLessThan((fifth && 'until' in fifth && fifth.until) || 0);
  });

  it('for hours, no message is dead-lettered, and all are sent afterwards', async () => {
    const end = T0 + 5 * 3_600_000;
    const world = createSenderWorld({ applyIds: ids(3) });
    world.recipients.outage = () => world.clock.now() < end;
    await world.queue.send(ids(3).map((applyId) => ({ key: aKey(applyId), delaySeconds: 0 })));

    await world.run();

    expect(world.statuses()).toEqual(['SENT', 'SENT', 'SENT']);
    expect(world.provider.calls).toHaveLength(3);
    expect(world.queue.deadLetters).toEqual([]);
  });
});

describe('with too little time left', () => {
  it('nothing is claimed, and the messages wait for their turn', async () => {
    const world = createSenderWorld({ applyIds: ids(2) });

    const actions = await world.send(messagesFor(ids(2)), 11_999);

    expect(actions.map((action) => action.do)).toEqual(['wait', 'wait']);
    expect(world.statuses()).toEqual(['PENDING', 'PENDING']);
  });

  it('after the claim, the claim is given back for a second and no attempt burnt', async () => {
    const world = createSenderWorld();
    const claimAll = world.recipients.claimAll.bind(world.recipients);
    // The claim itself took so long.
    world.recipients.claimAll = async (...args) => {
      const results = await claimAll(...args);
      world.clock.advance(25_000);
      return results;
    };

    const [action] = await world.send([aMessage()]);

    expect(world.provider.calls).toEqual([]);
    expect(world.recipients.get(aKey())?.recipient).toMatchObject({
      status: 'PENDING',
      attemptCount: 0,
      nextAttemptAt: world.clock.now() + 750,
    });
    expect(action).toEqual({ do: 'requeue', until: world.clock.now() + 750 });
  });

  it.each([
    [10_000, 1, 'SENT'],
    [10_001, 0, 'PENDING'],
  ])('of that in which the call should begin, %i ms after the claim, %i calls are made (L4b)', async (late, calls, status) => {
    const world = createSenderWorld();
    const claimAll = world.recipients.claimAll.bind(world.recipients);
    world.recipients.claimAll = async (...args) => {
      const results = await claimAll(...args);
      world.clock.advance(late);
      return results;
    };

    await world.send([aMessage()], 120_000);

    expect(world.provider.calls).toHaveLength(calls);
    expect(world.statuses()).toEqual([status]);
  });

  it('of the lease, the claim is given back as well', async () => {
    const world = createSenderWorld({ policy: { leaseSeconds: 10 } });

    await world.send([aMessage()]);

    expect(world.provider.calls).toEqual([]);
    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'PENDING', attemptCount: 0 });
  });

  it('at a slow pace, each of the rest waits on the queue for a turn of its own (S7)', async () => {
    const world = createSenderWorld({ applyIds: ids(10), maxSendRate: 0.5, random: () => 0 });

    const actions = await world.send(messagesFor(ids(10)));

    const waits = actions.filter((action) => action.do === 'wait').map(({ until }) => until - world.clock.now());
    expect(world.provider.calls).toHaveLength(1);
    // One in 1/0.45 s; none waits longer than 15 s.
    const turns = ids(9).map((_, i) => Math.min(15_000, (i + 1) * 2_223));
    expect(waits).toEqual(turns);
  });

  it('no pace is lost on recipients that were not claimed', async () => {
    const idle = createSenderWorld({ maxSendRate: 10, random: () => 0 });
    const busy = createSenderWorld({ applyIds: ids(9), maxSendRate: 10, random: () => 0 });
    for (const applyId of ids(9)) busy.recipients.put(aKey(applyId), aRecipient(sent()));
    await busy.send(messagesFor(ids(9)));
    idle.clock.to(busy.clock.now());

    expect(await busy.pacer.book(9)).toBe(await idle.pacer.book(9));
  });

  it('a message about to be taken for poison is replaced instead of waiting', async () => {
    const world = createSenderWorld();

    const [action] = await world.send([aMessage({ receiveCount: 9 })], 1_000);

    expect(action?.do).toBe('requeue');
  });
});

describe('what is told of a mail', () => {
  it('changes nothing when telling fails (U10)', async () => {
    const world = createSenderWorld({
      applyIds: ids(3),
      observe: neverThrow(() => {
        throw new Error('metrics are down');
      }),
    });

    expect(await world.send(messagesFor(ids(3)))).toEqual([{ do: 'delete' }, { do: 'delete' }, { do: 'delete' }]);
    expect(world.statuses()).toEqual(['SENT', 'SENT', 'SENT']);
  });

  it.each([
    ['sent', accepted, undefined],
    ['failed', permanent, 'MESSAGE_REJECTED'],
    ['retry', transient, 'NOT_CONNECTED'],
    ['throttled', throttledAnswer, 'ACCOUNT_THROTTLED'],
    ['account-trouble', accountTrouble, 'ACCOUNT_SENDING_PAUSED'],
    ['unclear', unclear, 'TIMED_OUT'],
  ])('is %s, by ids and codes alone', async (type, answer, code) => {
    const world = createSenderWorld({ answer: () => answer });

    await world.send([aMessage()]);

    expect(world.signals).toEqual([{ type, key: aKey(), round: 1, attempt: 1, ...(code !== undefined && { code }) }]);
  });
});

it('an earlier attempt of the round stays in the history', async () => {
  const world = createSenderWorld();
  const first = anAttempt({ outcome: 'retry', code: 'NOT_CONNECTED', lease: 'l-0' });
  world.recipients.put(aKey(), aRecipient(pending({ attemptCount: 1 }), { attempts: [first] }));

  await world.send([aMessage()]);

  expect(world.recipients.get(aKey())?.attempts).toMatchObject([first, { n: 2, outcome: 'sent' }]);
});
