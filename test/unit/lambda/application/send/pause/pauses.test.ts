import { describe, expect, it } from 'vitest';

import type { SendAnswer } from '../../../../../../lambda/domain/sending/send-answer.ts';
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
} from '../../../../../support/builders.ts';
import { T0 } from '../../../../../support/clock.ts';
import {
  accepted,
  accessDenied,
  accountTrouble,
  createFakeContents,
  credentialsRefused,
  permanent,
  quotaExceeded,
  throttledAnswer,
  transient,
  unclear,
} from '../../../../../support/fakes.ts';
import { createSenderWorld, relay, type SenderWorld } from '../../../../../support/sender-world.ts';

const HOUR = 3_600_000;
const ids = (n: number): string[] => Array.from({ length: n }, (_, i) => `a-${i + 1}`);
const enqueue = (world: SenderWorld, n: number) =>
  world.queue.send(ids(n).map((applyId) => ({ key: aKey(applyId), delaySeconds: 0 })));
const byOperator = { version: 1, pause: { by: 'operator', who: 'operator-1', since: T0 } } as const;

/** Messages that come one at a time, so that there are as many chunks as calls. */
const oneByOne = { maxSendRate: 1.2 } as const;
const sentOf = (world: SenderWorld): number => world.statuses().filter((status) => status === 'SENT').length;
const failedOf = (world: SenderWorld): string[] => world.statuses().filter((status) => status === 'FAILED');

describe('ten refusals for the account’s sake', () => {
  it('and a refused canary pause sending, fail nobody, and are reported once (S9, V3, U18)', async () => {
    const world = createSenderWorld({
      applyIds: ids(60),
      answer: (_call, n) => (n <= 10 ? { kind: 'accepted', messageId: `ses-${n}` } : accountTrouble),
    });
    world.provider.canaryAnswer = () => accountTrouble;
    await enqueue(world, 60);

    await world.run(80_000);

    expect(world.sending.state.pause).toMatchObject({ by: 'service', code: 'ACCOUNT_SENDING_PAUSED' });
    expect(sentOf(world)).toBe(10);
    expect(world.statuses().filter((status) => status === 'PENDING')).toHaveLength(50);
    expect(world.pauses[0]).toEqual({ type: 'paused', code: 'ACCOUNT_SENDING_PAUSED' });
    expect(world.pauses.filter(({ type }) => type === 'paused')).toHaveLength(1);
  });

  it('of which the first came alone pause nothing (V2)', async () => {
    const world = createSenderWorld({
      ...oneByOne,
      applyIds: ids(31),
      answer: ({ tags }, n) => (tags.applyId === 'a-1' ? accessDenied : { kind: 'accepted', messageId: `ses-${n}` }),
    });
    await enqueue(world, 31);

    await world.run(60_000);
    expect(sentOf(world)).toBe(30);
    await world.run(24 * HOUR);

    expect(world.pauses).toEqual([]);
    expect(world.recipients.get(aKey('a-1'))).toMatchObject({
      recipient: { status: 'FAILED', attemptCount: 7, lastErrorCode: 'ATTEMPTS_EXHAUSTED' },
    });
    expect(world.recipients.get(aKey('a-1'))?.attempts.at(-1)).toMatchObject({ outcome: 'retry', code: 'ACCESS_DENIED' });
    expect(world.queue.deadLetters).toHaveLength(1);
  });

  it('of one recipient alone in the service end it as FAILED when its attempts are used up (V2)', async () => {
    const world = createSenderWorld({ answer: () => accessDenied });
    await enqueue(world, 1);

    await world.run(24 * HOUR);

    expect(world.statuses()).toEqual(['FAILED']);
    expect(world.pauses).toEqual([]);
    const { attempts = [] } = world.recipients.get(aKey()) ?? {};
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['given-back', 'given-back', ...new Array<string>(7).fill('retry')]);
    // Every ten seconds at most, whatever is refused.
    expect(world.provider.canaries).toBeLessThanOrEqual(attempts.length);
  });

  it('of everybody, the canary too, pause, fail nobody, and end by themselves (V2)', async () => {
    const over = T0 + 3 * HOUR;
    const world = createSenderWorld({
      applyIds: ids(31),
      answer: (_call, n) => (world.clock.now() >= over ? { kind: 'accepted', messageId: `ses-${n}` } : accessDenied),
    });
    world.provider.canaryAnswer = (n) =>
      world.clock.now() >= over ? { kind: 'accepted', messageId: `canary-${n}` } : accessDenied;
    await enqueue(world, 31);

    await world.run(2 * HOUR);
    expect(world.sending.state.pause).toMatchObject({ code: 'ACCESS_DENIED' });
    expect(failedOf(world)).toEqual([]);
    await world.run(3 * HOUR);

    expect(world.statuses()).toEqual(new Array(31).fill('SENT'));
    expect(world.sending.state.pause).toBeUndefined();
    for (const { recipient } of world.recipients.all()) expect(recipient.attemptCount).toBe(1);
    // A few for each recipient before the pause, and a probe every twenty minutes.
    expect(world.provider.calls.length).toBeLessThan(31 * 4 + 20);
  });

  it('of fewer than ten recipients pause nothing, and fail nobody while the canary is refused as well', async () => {
    const world = createSenderWorld({ applyIds: ids(5), answer: () => accountTrouble });
    world.provider.canaryAnswer = () => accountTrouble;
    await enqueue(world, 5);

    await world.run(24 * HOUR);

    expect(world.statuses()).toEqual(new Array(5).fill('PENDING'));
    expect(world.sending.state.pause).toBeUndefined();
    // About every ten minutes each.
    expect(world.provider.calls.length).toBeLessThan(5 * 24 * 9);
  });

  it('of one dispatch, while the canary is accepted, stop that dispatch and fail nobody (V32)', async () => {
    const world = createSenderWorld({ ...oneByOne, applyIds: ids(30), answer: () => accessDenied });
    await enqueue(world, 30);

    await world.run(60_000);

    expect(world.dispatches.get(DISPATCH_ID)).toMatchObject({ status: 'STOPPED', failureReason: 'refused-though-account-works' });
    expect(world.statuses()).toEqual(new Array(30).fill('PENDING'));
    expect(world.sending.state.pause).toBeUndefined();
    // The second one after further mails of the dispatch were refused.
    expect(world.provider.canaries).toBe(2);
    expect(world.signals.filter(({ type }) => type === 'stopped')).toEqual([
      { type: 'stopped', dispatchId: DISPATCH_ID, code: 'ACCESS_DENIED' },
    ]);
  });

  it('stop no dispatch when the account’s trouble ended before the canary (V32, S9)', async () => {
    const world = createSenderWorld({
      ...oneByOne,
      applyIds: ids(30),
      answer: ({ tags }, n) =>
        // One recipient is refused for its own sake, also when the trouble has ended.
        n <= 10 || tags.applyId === 'a-11' ? accountTrouble : { kind: 'accepted', messageId: `ses-${n}` },
    });
    await enqueue(world, 30);

    await world.run(10 * 60_000);

    expect(world.dispatches.get(DISPATCH_ID)?.status).not.toBe('STOPPED');
    expect(sentOf(world)).toBe(29);
    expect(world.pauses).toEqual([]);
  });

  it('of one dispatch stop it although others are accepted between them', async () => {
    const world = createSenderWorld({
      ...oneByOne,
      applyIds: [],
      contents: createFakeContents({ good: aContent(), bad: aContent() }),
      answer: ({ tags }, n) => (tags.dispatchId === 'bad' ? accessDenied : { kind: 'accepted', messageId: `ses-${n}` }),
    });
    for (const dispatchId of ['good', 'bad']) {
      world.dispatches.set(dispatchId, { status: 'IN_PROGRESS' });
      for (const applyId of ids(15)) world.recipients.put(aKey(applyId, dispatchId), aRecipient(undefined, { applyId }));
    }
    await relay(
      world,
      ids(15).flatMap((applyId) => [aKey(applyId, 'bad'), aKey(applyId, 'good')]),
    );

    await world.run(60_000);

    expect(world.dispatches.get('bad')?.status).toBe('STOPPED');
    expect(world.dispatches.get('good')?.status).toBe('IN_PROGRESS');
    expect(sentOf(world)).toBe(15);
    expect(failedOf(world)).toEqual([]);
  });

  it.each([
    ['throttled', throttledAnswer],
    ['lost', unclear],
    ['failed in passing', transient],
  ])('pause nothing as long as the canary is %s, and it is asked again', async (_name, answer) => {
    const world = createSenderWorld({ ...oneByOne, applyIds: ids(40), answer: () => accessDenied });
    world.provider.canaryAnswer = () => answer;
    await enqueue(world, 40);

    await world.run(40_000);

    expect(world.sending.state.pause).toBeUndefined();
    expect(world.dispatches.get(DISPATCH_ID)?.status).toBe('ACCEPTED');
    expect(world.provider.canaries).toBeGreaterThan(1);
    // One every ten seconds.
    expect(world.provider.canaries).toBeLessThanOrEqual(5);
  });

  it('pause by themselves when SES refuses the canary for its own sake, and that is reported (V32)', async () => {
    const world = createSenderWorld({ ...oneByOne, applyIds: ids(20), answer: () => accountTrouble });
    world.provider.canaryAnswer = () => permanent;
    await enqueue(world, 20);

    await world.run(30_000);

    expect(world.sending.state.pause).toMatchObject({ code: 'ACCOUNT_SENDING_PAUSED' });
    expect(world.pauses.map(({ type }) => type)).toEqual(['canary-unusable', 'paused']);
  });

  it('ask one canary for all senders', async () => {
    const world = createSenderWorld({ ...oneByOne, applyIds: ids(40), answer: () => accessDenied });
    const other = createSenderWorld({ ...oneByOne, beside: world, answer: () => accessDenied });
    await enqueue(world, 40);
    world.provider.canaryAnswer = other.provider.canaryAnswer = () => transient;

    for (let n = 0; n < 4; n += 1) {
      await world.invoke();
      await other.invoke();
    }

    const took = world.clock.now() - T0;
    expect(world.provider.canaries + other.provider.canaries).toBeLessThanOrEqual(1 + took / 10_000);
  });

  it('of mails from an address that is no longer the configured one stop their dispatch, never the account', async () => {
    const world = createSenderWorld({
      ...oneByOne,
      applyIds: ids(15),
      contents: createFakeContents({ [DISPATCH_ID]: aContent({ from: 'Old <old@example.org>' }) }),
      answer: () => ({ kind: 'account', code: 'FROM_IDENTITY_NOT_VERIFIED' }),
    });
    await enqueue(world, 15);

    await world.run(HOUR);

    expect(world.dispatches.get(DISPATCH_ID)).toMatchObject({ status: 'STOPPED', failureReason: 'sender-not-configured' });
    expect(world.pauses).toEqual([]);
    // Those that were in hand.
    expect(world.provider.calls).toHaveLength(10);
    expect(failedOf(world)).toEqual([]);
  });
});

describe('one recipient that is refused', () => {
  it('does not stop a dispatch of a former address whose other mails are accepted (V2)', async () => {
    const from = 'Old <old@example.org>';
    const world = createSenderWorld({
      ...oneByOne,
      applyIds: ids(15),
      contents: createFakeContents({ [DISPATCH_ID]: aContent({ from }) }),
      answer: ({ tags }) => (tags.applyId === 'a-9' ? accessDenied : accepted),
    });
    await enqueue(world, 15);

    await world.run(30_000);

    expect(world.dispatches.get(DISPATCH_ID)?.status).not.toBe('STOPPED');
    expect(world.statuses().filter((status) => status === 'SENT')).toHaveLength(14);
  });
});

describe('the daily quota', () => {
  it('pauses at once without a canary, costs nobody an attempt, and ends by what SES says and one mail (S6, V32)', async () => {
    const over = T0 + 5 * HOUR;
    const world = createSenderWorld({
      applyIds: ids(30),
      answer: (_call, n) => (n <= 15 || world.clock.now() >= over ? { kind: 'accepted', messageId: `ses-${n}` } : quotaExceeded),
    });
    world.quota.hasRoom = () => Promise.resolve(world.clock.now() >= over);
    await enqueue(world, 30);

    await world.run(5_000);
    expect(world.sending.state.pause).toMatchObject({ code: 'ACCOUNT_DAILY_QUOTA_EXCEEDED' });
    const refused = world.provider.calls.length - 15;
    await world.run(4 * HOUR);
    expect(world.provider.calls.length - 15).toBe(refused);
    await world.run(3 * HOUR);

    expect(world.statuses()).toEqual(new Array(30).fill('SENT'));
    for (const { recipient } of world.recipients.all()) expect(recipient.attemptCount).toBe(1);
    expect(world.provider.canaries).toBe(0);
    expect(world.pauses.at(-1)).toEqual({ type: 'resumed', code: 'ACCOUNT_DAILY_QUOTA_EXCEEDED' });
    expect(world.queue.deadLetters).toEqual([]);
  });

  it('that SES does not tell of is tried by a mail in the end', async () => {
    const world = createSenderWorld({ applyIds: ids(3), answer: (_call, n) => (n <= 3 ? quotaExceeded : accepted) });
    world.quota.room = undefined;
    await enqueue(world, 3);

    await world.run(2 * HOUR);

    expect(world.statuses()).toEqual(new Array(3).fill('SENT'));
    expect(world.quota.asked).toBeGreaterThan(3);
  });

  it('that a probing mail still meets makes the pause longer, and the mail is given back', async () => {
    const world = createSenderWorld({ applyIds: ids(2), answer: () => quotaExceeded });
    await enqueue(world, 2);

    await world.run(3 * HOUR);

    expect(world.statuses()).toEqual(['PENDING', 'PENDING']);
    expect(world.sending.state.pause).toMatchObject({ code: 'ACCOUNT_DAILY_QUOTA_EXCEEDED', seconds: 600 });
    expect(world.recipients.all().map(({ recipient }) => recipient.attemptCount)).toEqual([0, 0]);
  });
});

describe('trouble in a row', () => {
  const apart = async (world: SenderWorld, times: number): Promise<void> => {
    for (let n = 0; n < times; n += 1) {
      await world.invoke();
      world.clock.advance(1_500);
    }
  };

  it.each([
    ['ten dead connections of one chunk do not pause (V9)', 1, false],
    ['the same over three chunks and two seconds does (V9)', 3, true],
  ])('%s', async (_name, chunks, isPaused) => {
    const world = createSenderWorld({ applyIds: ids(30), answer: () => transient });
    await enqueue(world, 30);

    await apart(world, chunks);

    expect(world.provider.calls).toHaveLength(chunks * 10);
    expect(world.sending.state.pause !== undefined).toBe(isPaused);
    if (isPaused) expect(world.sending.state.pause).toMatchObject({ code: 'TROUBLE_IN_A_ROW', seconds: 60 });
  });

  it('that one mail interrupts does not pause', async () => {
    const world = createSenderWorld({
      applyIds: ids(30),
      answer: (_call, n) => (n % 10 === 0 ? { kind: 'accepted', messageId: `ses-${n}` } : transient),
    });
    await enqueue(world, 30);

    await apart(world, 3);

    expect(world.sending.state.pause).toBeUndefined();
  });

  it('of one recipient does not pause', async () => {
    const world = createSenderWorld({ answer: () => transient });
    await enqueue(world, 1);

    await world.run();

    expect(world.pauses).toEqual([]);
    expect(world.statuses()).toEqual(['FAILED']);
  });

  it('of a third of the answers for ten minutes pauses rather than leaving hundreds unclear (V30)', async () => {
    let drawn = 1;
    const draw = () => (drawn = (drawn * 16_807) % 2_147_483_647) / 2_147_483_647;
    const isBrown = () => world.clock.now() < T0 + 600_000 && draw() < 0.3;
    const world: SenderWorld = createSenderWorld({
      applyIds: ids(1_500),
      maxSendRate: 14,
      answer: (_call, n) => (isBrown() ? unclear : { kind: 'accepted', messageId: `ses-${n}` }),
    });
    world.provider.canaryAnswer = (n) => (isBrown() ? unclear : { kind: 'accepted', messageId: `canary-${n}` });
    await enqueue(world, 1_500);

    await world.run(600_000);

    expect(world.pauses[0]).toEqual({ type: 'paused', code: 'ANSWERS_LOST' });
    expect(world.signals.filter(({ type }) => type === 'unclear').length).toBeLessThan(100);
  });
});

describe('a pause of the service', () => {
  const pausedFor = (code: string, rest: object = {}) =>
    ({ version: 4, pause: { by: 'service', code, since: T0 - 60_000, until: T0, seconds: 60, ...rest } }) as const;
  const messages = ids(5).map((applyId, i) => aMessage({ key: aKey(applyId), id: `m-${i}` }));
  const worldOf = (canary: SendAnswer | ((n: number) => SendAnswer), code = 'ACCESS_DENIED', rest: object = {}) => {
    const world = createSenderWorld({ applyIds: ids(5), answer: (_call, n) => ({ kind: 'accepted', messageId: `ses-${n}` }) });
    world.provider.canaryAnswer = typeof canary === 'function' ? canary : () => canary;
    world.sending.state = pausedFor(code, rest);
    return world;
  };

  it('ends when its canary is accepted, and all go on', async () => {
    const world = worldOf(accepted);

    await world.send(messages);

    expect(world.provider.canaries).toBe(1);
    expect(world.statuses()).toEqual(new Array(5).fill('SENT'));
    expect(world.sending.state).toMatchObject({ version: 6, resumedAt: expect.any(Number) as number });
    expect(world.pauses).toEqual([{ type: 'resumed', code: 'ACCESS_DENIED' }]);
  });

  it.each([
    ['is refused', accountTrouble, 'ACCOUNT_SENDING_PAUSED'],
    ['fails in passing', transient, 'ACCESS_DENIED'],
    ['gets no answer', unclear, 'ACCESS_DENIED'],
  ])('is twice as long when its canary %s, and no mail is tried', async (_name, answer, code) => {
    const world = worldOf(answer);

    const actions = await world.send(messages);

    expect(world.provider.calls).toEqual([]);
    expect(world.sending.state.pause).toMatchObject({ seconds: 120, code, probes: 1 });
    expect(actions).toEqual(new Array(5).fill({ do: 'requeue', until: world.clock.now() + 120_000 }));
  });

  it('is probed again after some seconds when its canary is throttled', async () => {
    const world = worldOf(throttledAnswer);

    await world.send(messages);

    expect(world.sending.state.pause).toMatchObject({ seconds: 60, until: T0 + 3_000 });
    expect(world.pauses).toEqual([]);
  });

  it('is probed by a mail after three canaries, whose acceptance ends it and is reported (V32)', async () => {
    const world = worldOf(accountTrouble);
    await enqueue(world, 5);

    await world.run(2 * HOUR);

    expect(world.provider.canaries).toBe(3);
    expect(world.statuses()).toEqual(new Array(5).fill('SENT'));
    expect(world.pauses.slice(-2).map(({ type }) => type)).toEqual(['resumed', 'canary-unusable']);
  });

  it('is probed by a mail at once when its canary is unusable', async () => {
    const world = worldOf(permanent);

    await world.send(messages);

    expect(world.statuses()).toEqual(new Array(5).fill('SENT'));
    expect(world.pauses.map(({ type }) => type)).toContain('canary-unusable');
  });

  it.each(['TROUBLE_IN_A_ROW', 'ANSWERS_LOST'])('for %s ends after five accepted canaries, a second apart', async (code) => {
    const world = worldOf(accepted, code);

    await world.send(messages);

    expect(world.provider.canaries).toBe(5);
    expect(world.clock.slept.slice(0, 4)).toEqual([1_000, 1_000, 1_000, 1_000]);
    expect(world.sending.state.pause).toBeUndefined();
  });

  it('for trouble is prolonged when the fifth canary is lost', async () => {
    const world = worldOf((n) => (n === 5 ? unclear : accepted), 'ANSWERS_LOST');

    await world.send(messages);

    expect(world.sending.state.pause).toMatchObject({ code: 'ANSWERS_LOST', seconds: 120, probes: 0 });
    expect(world.provider.calls).toEqual([]);
  });

  it('for trouble is probed on by later invocations when each has time for one canary only', async () => {
    const world = worldOf(accepted, 'TROUBLE_IN_A_ROW');

    for (let n = 1; n <= 4; n += 1) {
      await world.send(messages, 12_500);
      expect(world.sending.state.pause).toMatchObject({ accepted: n, seconds: 60 });
      world.clock.advance(5_000);
    }
    await world.send(messages, 12_500);

    expect(world.provider.canaries).toBe(5);
    expect(world.sending.state.pause).toBeUndefined();
  });

  it('is not probed by an invocation that has no time left for it', async () => {
    const world = worldOf(accepted);

    const actions = await world.send(messages, 11_000);

    expect(world.provider.canaries).toBe(0);
    expect(world.sending.state).toEqual(pausedFor('ACCESS_DENIED'));
    expect(actions[0]).toEqual({ do: 'requeue', until: T0 + 1_000 });
  });

  it('is probed by one of many senders', async () => {
    const world = worldOf(accepted);
    const other = createSenderWorld({ applyIds: ids(5), answer: () => accepted });
    other.sending.read = () => Promise.resolve(pausedFor('ACCESS_DENIED'));
    other.sending.change = () => Promise.resolve(false);

    await Promise.all([world.send(messages), other.send(messages)]);

    expect(other.provider.calls).toEqual([]);
    expect(other.provider.canaries).toBe(0);
  });

  it('is not ended by its canary when an operator paused meanwhile', async () => {
    const world = worldOf(() => {
      world.sending.state = { version: 6, pause: { by: 'operator', who: 'operator-1', since: T0 } };
      return accepted;
    });

    await world.send(messages);

    expect(world.sending.state.pause).toMatchObject({ by: 'operator' });
    expect(world.pauses).toEqual([]);
    expect(world.provider.calls).toEqual([]);
  });

  it('is not probed by one that has nothing to send', async () => {
    const world = worldOf(accepted);
    world.dispatches.set('other', { status: 'STOPPED' });

    await world.send([aMessage({ key: aKey('a-1', 'other') })]);

    expect(world.sending.state).toEqual(pausedFor('ACCESS_DENIED'));
  });

  describe('that a mail probes', () => {
    const byMail = { probes: 3 };

    it('ends with that one mail, and all go on', async () => {
      const world = worldOf(accountTrouble, 'ACCESS_DENIED', byMail);

      await world.send(messages);

      expect(world.statuses()).toEqual(new Array(5).fill('SENT'));
    });

    it.each([
      ['refused', accessDenied],
      ['lost', unclear],
      ['failed in passing', transient],
    ])('is prolonged when it is %s, and leaves all others alone', async (_name, answer) => {
      const world = createSenderWorld({ applyIds: ids(5), answer: () => answer });
      world.sending.state = pausedFor('ACCESS_DENIED', byMail);

      const actions = await world.send(messages);

      expect(world.provider.calls).toHaveLength(1);
      expect(world.sending.state.pause).toMatchObject({ seconds: 120 });
      expect(actions.slice(1)).toEqual(new Array(4).fill({ do: 'requeue', until: world.clock.now() + 120_000 }));
    });

    it('gives the refused mail back, though others were accepted since its last refusal', async () => {
      const world = createSenderWorld({ answer: () => accessDenied });
      world.recipients.put(
        aKey(),
        aRecipient(pending(), {
          attempts: [anAttempt({ outcome: 'given-back', code: 'ACCESS_DENIED', startedAt: T0 - 90_000 })],
        }),
      );
      world.canaries.result = { beganAt: T0 - 80_000, answer: accepted };
      world.sending.state = pausedFor('ACCESS_DENIED', byMail);

      await world.send([aMessage()]);

      expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'PENDING', attemptCount: 0 });
    });

    it('is not probed under an operator’s pause when there was no time for the mail', async () => {
      const world = worldOf(accepted, 'ACCESS_DENIED', byMail);
      // Claimed as the probe, and then there was no time for the call.
      let isSlow = true;
      const claimAll = world.recipients.claimAll.bind(world.recipients);
      world.recipients.claimAll = (claims, now) => {
        if (isSlow) world.clock.advance(8_000);
        return claimAll(claims, now);
      };
      await world.send(messages.slice(0, 1), 17_000);
      isSlow = false;
      world.sending.state = { version: 6, pause: { by: 'operator', who: 'operator-1', since: T0 } };

      await world.send(messages.slice(1));

      expect(world.provider.calls).toEqual([]);
    });

    it('tries the next one when a mail cannot be rendered', async () => {
      const world = createSenderWorld({
        applyIds: ids(5),
        answer: () => accessDenied,
        renderer: {
          render: (_dispatchId, _content, { applyId }) =>
            applyId === 'a-1' ? { ok: false, code: 'RENDERING_FAULT' } : { ok: true, mail: { subject: 's', text: 't' } },
        },
      });
      world.sending.state = pausedFor('ACCESS_DENIED', byMail);

      await world.send(messages);

      expect(world.provider.calls).toHaveLength(1);
      expect(world.sending.state.pause).toMatchObject({ seconds: 120 });
    });

    it('tries the next recipient when one needs no mail any more', async () => {
      const world = worldOf(accepted, 'ACCESS_DENIED', byMail);
      world.recipients.put(aKey('a-1'), aRecipient(sent()));

      await world.send(messages);

      expect(world.provider.calls).toHaveLength(4);
      expect(world.sending.state.pause).toBeUndefined();
    });
  });
});

describe('credentials that SES refuses', () => {
  it('keep one environment from work, while others send; nobody FAILED (V35)', async () => {
    const world = createSenderWorld({ applyIds: ids(30), answer: () => credentialsRefused });
    world.provider.canaryAnswer = () => credentialsRefused;
    const other = createSenderWorld({ beside: world, answer: (_call, n) => ({ kind: 'accepted', messageId: `ses-${n}` }) });
    await enqueue(world, 30);

    for (let n = 0; n < 60; n += 1) {
      for (const each of n % 2 === 0 ? [world, other] : [other, world]) await each.invoke();
      world.clock.advance(2_000);
    }

    expect(world.statuses()).toEqual(new Array(30).fill('SENT'));
    expect(world.provider.calls).toHaveLength(10);
    for (const { recipient } of world.recipients.all()) expect(recipient.attemptCount).toBe(1);
    expect(world.sending.state.pause).toBeUndefined();
  });

  it('are tried by a canary before this environment works again, after a longer time each time', async () => {
    let isGood = false;
    const world = createSenderWorld({
      applyIds: ids(3),
      answer: (_call, n) => (isGood ? { kind: 'accepted', messageId: `ses-${n}` } : credentialsRefused),
    });
    const canariesAt: number[] = [];
    world.provider.canaryAnswer = () => {
      canariesAt.push(world.clock.now() - T0);
      isGood = canariesAt.length === 3;
      return isGood ? accepted : credentialsRefused;
    };
    await enqueue(world, 3);

    await world.run(HOUR);

    expect(world.statuses()).toEqual(new Array(3).fill('SENT'));
    expect(world.provider.calls).toHaveLength(6);
    const [first = 0, second = 0, third = 0] = canariesAt;
    expect(first).toBeGreaterThanOrEqual(60_000);
    expect(second - first).toBeGreaterThanOrEqual(120_000);
    expect(third - second).toBeGreaterThanOrEqual(240_000);
  });

  it('pause all when three environments meet them within five minutes', async () => {
    const world = createSenderWorld({ applyIds: ids(30), answer: () => credentialsRefused });
    const others = [1, 2].map(() => createSenderWorld({ beside: world, answer: () => credentialsRefused }));
    await enqueue(world, 30);

    for (const each of [world, ...others]) await each.invoke();

    expect(world.sending.state.pause).toMatchObject({ by: 'service', code: 'CREDENTIALS' });
    expect(failedOf(world)).toEqual([]);
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
