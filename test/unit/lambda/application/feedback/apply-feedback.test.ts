import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { FeedbackSignal } from '../../../../../lambda/application/feedback/apply-event.ts';
import { createApplyFeedback } from '../../../../../lambda/application/feedback/apply-feedback.ts';
import type { StoredRecipient } from '../../../../../lambda/application/ports/recipients.ts';
import type { Feedback } from '../../../../../lambda/domain/recipient/feedback.ts';
import type { Recipient } from '../../../../../lambda/domain/recipient/recipient.ts';
import { type Arrival, MOST_UNAPPLIED } from '../../../../../lambda/domain/sending/watermark.ts';
import {
  aKey,
  anAttempt,
  aRecipient,
  cancelled,
  exhausted,
  pending,
  processing,
  sent,
  unknown,
} from '../../../../support/builders.ts';
import { createFakeClock, type FakeClock, T0 } from '../../../../support/clock.ts';
import { createFakeFeedback, type FakeFeedback } from '../../../../support/fake-feedback.ts';
import { createFakeRecipients, type FakeRecipients } from '../../../../support/fakes.ts';
import { aMailEvent, anEvent } from '../../../../support/feedback-builders.ts';

let clock: FakeClock;
let recipients: FakeRecipients;
let feedback: FakeFeedback;
let signals: FeedbackSignal[];

beforeEach(() => {
  clock = createFakeClock(T0 + 3_600_000);
  recipients = createFakeRecipients();
  feedback = createFakeFeedback();
  signals = [];
});

const never = () => new Promise<void>(() => undefined);

/** A worker of its own; time runs out only where a test says so. */
const apply = (batch: readonly Feedback[], sleep: (ms: number) => Promise<void> = never, arrival?: Arrival) =>
  createApplyFeedback({
    ...{ recipients, feedback, clock: clock.now, sleep, observe: (signal) => signals.push(signal) },
    behind: { behindAfterSeconds: 45, redeliverySeconds: 70 },
  })(
    batch.map((each) => ({ ...each, arrival: arrival ?? { ...promptly(), receiveCount: 2 } })),
    () => 10_000,
  );
const promptly = () => ({ queuedAt: clock.now(), firstReceivedAt: clock.now(), receiveCount: 1 });

const put = (recipient: Recipient, rest: Partial<StoredRecipient> = {}, applyId = 'a-1') => {
  recipients.put(aKey(applyId), aRecipient(recipient, { applyId, attempts: [anAttempt()], ...rest }));
};
const row = (applyId = 'a-1') => recipients.get(aKey(applyId));
const told = () => signals.map(({ type }) => type);

describe('an event of SES', () => {
  it.each<[string, Recipient]>([
    ['whose answer was lost (S1)', processing()],
    ['whose worker died after SES took the mail (L3)', processing({ lease: { token: 'ours', until: T0 } })],
    ['that waits to be sent again', pending({ attemptCount: 1 })],
  ])('makes a recipient SENT %s', async (_name, recipient) => {
    put(recipient);

    expect(await apply([anEvent()])).toEqual([false]);

    expect(row()).toMatchObject({
      recipient: { status: 'SENT', messageId: 'ses-1', sentAt: T0 },
      attempts: [{ outcome: 'sent', messageId: 'ses-1' }],
      delivery: 'none',
      events: [aMailEvent()],
    });
    expect(signals).toEqual([
      { type: 'send', key: aKey(), round: 1, attempt: 1 },
      { type: 'confirmed', from: recipient.status, key: aKey(), round: 1, attempt: 1 },
    ]);
  });

  it.each<[string, Recipient]>([
    ['that ran out of attempts', exhausted()],
    ['nobody could be sure of', unknown()],
    ['that was cancelled', cancelled],
  ])('makes even a recipient SENT %s, and says that it came late', async (_name, recipient) => {
    put(recipient);

    await apply([anEvent({ kind: 'delivery' })]);

    expect(row()?.recipient).toMatchObject({ status: 'SENT', messageId: 'ses-1' });
    expect(signals).toContainEqual({ type: 'late', from: recipient.status, key: aKey(), round: 1, attempt: 1 });
  });

  it('is not needed by a recipient that is SENT by SES’s answer (U11)', async () => {
    put(sent(), { attempts: [anAttempt({ outcome: 'sent', messageId: 'ses-1' })] });
    const before = row();
    const table = recipients;
    const outcomes: string[] = [];
    recipients = {
      ...table,
      applyPatch: async (...args) => {
        const outcome = await table.applyPatch(...args);
        outcomes.push(outcome);
        return outcome;
      },
    };

    // SQS brings some of them twice.
    expect(await apply([anEvent(), anEvent()])).toEqual([false, false]);

    expect(outcomes).toEqual(['unchanged', 'unchanged']);
    expect(row()).toEqual(before);
    expect(told()).toEqual(['send', 'send']);
  });

  it.each<[string, Recipient, Partial<StoredRecipient>]>([
    ['that is SENT by a person’s word', { status: 'SENT', round: 1, attemptCount: 1, sentAt: T0 }, {}],
    ['that is SENT by another mail', sent({ messageId: 'ses-0' }), {}],
    ['whose attempt has no message id', sent(), { attempts: [anAttempt()] }],
    ['whose attempt was dropped for want of room', sent(), { attempts: [] }],
  ])('is written to a recipient %s, though it is only a Send', async (_name, recipient, rest) => {
    put(recipient, rest);

    await apply([anEvent()]);

    expect(row()?.events).toEqual([aMailEvent()]);
    expect(told()).toContain('send');
  });

  it('moves the watermark and removes what was unapplied of its attempt, though it is a Send that needs no write', async () => {
    put(sent(), { attempts: [anAttempt({ outcome: 'sent', messageId: 'ses-1' })] });
    await feedback.addUnapplied([{ lease: 'ours', sentAt: T0 }], T0);

    await apply([anEvent()]);

    expect(feedback.state).toMatchObject({ watermark: T0, unapplied: [] });
  });

  it('that comes twice changes nothing and is counted once (E2)', async () => {
    put(sent());
    await apply([anEvent({ kind: 'bounce', detail: 'Permanent/General' })]);
    const before = row();

    expect(await apply([anEvent({ kind: 'bounce', detail: 'Permanent/General' })])).toEqual([false]);

    expect(row()).toEqual(before);
    expect(told()).toEqual(['bounce']);
  });

  it('of another kind about the same mail is kept as well (E2)', async () => {
    put(sent());

    await apply([anEvent(), anEvent({ kind: 'delivery', at: T0 + 1 }), anEvent({ kind: 'complaint', at: T0 + 2 })]);

    expect(row()?.events.map(({ kind }) => kind)).toEqual(['send', 'delivery', 'complaint']);
    expect(row()?.delivery).toBe('complained');
    expect(told()).toEqual(['send', 'delivery', 'complaint']);
  });

  it.each([['Transient/General'], ['Undetermined/Undetermined']])(
    'that is a soft bounce is kept, and leaves a delivered mail delivered: %s (V4)',
    async (detail) => {
      put(sent());
      put(sent(), {}, 'a-2');
      const delivery = anEvent({ kind: 'delivery', at: T0 + 1 });
      const reply = anEvent({ kind: 'soft-bounce', at: T0 + 2, detail });
      const ofSecond = (event: typeof reply) => ({ ...event, origin: { ...event.origin, key: aKey('a-2') } });

      await apply([delivery, reply, ofSecond(reply), ofSecond(delivery)]);

      for (const applyId of ['a-1', 'a-2']) {
        expect(row(applyId)?.delivery).toBe('delivered');
        expect(row(applyId)?.events).toMatchObject([{ kind: 'delivery' }, { kind: 'soft-bounce', detail }]);
      }
      expect(told().toSorted()).toEqual(['delivery', 'delivery', 'soft-bounce', 'soft-bounce']);
    },
  );

  it('about a suppressed address is no bounce of ours (S15)', async () => {
    put(sent());

    await apply([anEvent({ kind: 'bounce', detail: 'Permanent/OnAccountSuppressionList', suppressed: true })]);

    expect(row()).toMatchObject({ recipient: { status: 'SENT' }, delivery: 'suppressed' });
    expect(signals).toMatchObject([{ type: 'suppressed', detail: 'Permanent/OnAccountSuppressionList' }]);
  });

  it('weighs although there is no room to keep it beside newer ones', async () => {
    put(sent(), { delivery: 'delivered', events: Array.from({ length: 20 }, (_, i) => aMailEvent({ at: T0 + 9 + i })) });

    await apply([anEvent({ kind: 'complaint' })]);

    expect(row()?.delivery).toBe('complained');
    expect(told()).toEqual(['complaint']);
  });

  it('about a second mail is a duplicate, counted once however many events it has', async () => {
    put(sent(), { attempts: [anAttempt({ messageId: 'ses-1' }), anAttempt({ n: 2, lease: 'second' })] });
    const second = { n: 2, lease: 'second' };

    await apply([anEvent({ messageId: 'ses-2' }, second), anEvent({ messageId: 'ses-2', kind: 'delivery' }, second)]);
    await apply([anEvent({ messageId: 'ses-2' }, second)]);

    expect(row()?.recipient).toEqual(sent());
    expect(row()?.attempts.map(({ messageId }) => messageId)).toEqual(['ses-1', 'ses-2']);
    // The second Send is a repeat.
    expect(told()).toEqual(['send', 'duplicate', 'delivery', 'send']);
  });

  it('about a recipient that nobody knows is dropped, and counted (E3)', async () => {
    expect(await apply([anEvent({}, { key: aKey('nobody') })])).toEqual([false]);

    expect(signals).toEqual([{ type: 'gone', key: aKey('nobody'), round: 1, attempt: 1 }]);
    expect(feedback.state.watermark).toBeUndefined();
  });

  it.each<[Feedback, FeedbackSignal]>([
    [
      { kind: 'ignored', eventType: 'Open' },
      { type: 'ignored', detail: 'Open' },
    ],
    [{ kind: 'foreign' }, { type: 'foreign' }],
    [{ kind: 'malformed' }, { type: 'malformed' }],
  ])('that says nothing of a recipient is dropped, and counted (E3): %j', async (message, signal) => {
    expect(await apply([message])).toEqual([false]);

    expect(signals).toEqual([signal]);
    expect(feedback.state).toEqual({ unapplied: [] });
  });
});

describe('a batch of events', () => {
  it('applies those of one row one after the other, those of others at once', async () => {
    for (const applyId of ['a-1', 'a-2']) put(sent(), {}, applyId);
    const order: string[] = [];
    const table = recipients;
    recipients = {
      ...table,
      applyPatch: async (key, change) => {
        order.push(`${key.applyId} begins`);
        await Promise.resolve();
        order.push(`${key.applyId} ends`);
        return table.applyPatch(key, change);
      },
    };
    const of = (applyId: string, at: number) => anEvent({ kind: 'delivery', at }, { key: aKey(applyId) });

    await apply([of('a-1', T0), of('a-1', T0 + 1), of('a-2', T0)]);

    expect(order).toEqual(['a-1 begins', 'a-2 begins', 'a-1 ends', 'a-2 ends', 'a-1 begins', 'a-1 ends']);
    expect(row('a-1')?.events).toHaveLength(2);
  });

  it('keeps only those that failed, in its order', async () => {
    for (const applyId of ['a-1', 'a-3']) put(sent(), {}, applyId);
    recipients.outage = (_step, { applyId }) => applyId === 'a-2';
    const batch = ['a-1', 'a-2', 'a-3'].map((applyId) => anEvent({}, { key: aKey(applyId), lease: `of ${applyId}` }));

    expect(await apply([{ kind: 'malformed' }, ...batch])).toEqual([false, false, true, false]);

    expect(told().toSorted()).toEqual(['failed', 'malformed', 'send', 'send']);
  });

  it('keeps one whose row breaks the code, and tells what broke', async () => {
    const error = new RangeError('about kim@example.com');
    recipients.applyPatch = () => Promise.reject(error);

    expect(await apply([anEvent()])).toEqual([true]);

    expect(signals).toEqual([{ type: 'failed', key: aKey(), round: 1, attempt: 1, error }]);
    expect(feedback.state.unapplied).toEqual([{ lease: 'ours', sentAt: T0 }]);
  });

  it('leaves half of its time to hold what the table does not answer for', async () => {
    put(sent());
    recipients.applyPatch = (key) => (key.applyId === 'a-1' ? Promise.resolve('written') : new Promise(() => undefined));
    const slept: number[] = [];
    const sleep = async (ms: number) => {
      slept.push(ms);
      if (ms !== 5_000) return never();
      for (let i = 0; i < 10; i += 1) await Promise.resolve();
    };

    const comeAgain = await apply([anEvent(), anEvent({}, { key: aKey('a-2'), lease: 'slow', sentAt: T0 + 5 })], sleep);

    expect(comeAgain).toEqual([false, true]);
    expect(slept).toEqual([5_000, 9_800]);
    expect(feedback.state.unapplied).toEqual([{ lease: 'slow', sentAt: T0 + 5 }]);
  });

  it('keeps one that was applied only after it was held, so that the hold goes when it comes again', async () => {
    let finish: (() => void) | undefined;
    recipients.applyPatch = () =>
      new Promise(
        (resolve) =>
          (finish = () => {
            resolve('written');
          }),
      );
    vi.spyOn(feedback, 'addUnapplied').mockImplementation(async () => {
      finish?.();
      for (let i = 0; i < 10; i += 1) await Promise.resolve();
      return true;
    });

    expect(await apply([anEvent()], (ms) => (ms === 5_000 ? Promise.resolve() : never()))).toEqual([true]);
  });

  it('counts nothing of one that could not be written', async () => {
    recipients.applyPatch = (_key, change) => {
      change(aRecipient(processing()));
      return Promise.resolve('unavailable');
    };

    expect(await apply([anEvent()])).toEqual([true]);

    expect(told()).toEqual(['failed']);
  });

  it('answers in time although the feedback does not', async () => {
    put(sent());
    feedback.read = () => new Promise(() => undefined);
    const sleep = (ms: number) => (ms === 9_800 ? Promise.resolve() : never());

    expect(await apply([anEvent()], sleep)).toEqual([false]);
  });
});

describe('the watermark', () => {
  const failing = (...applyIds: string[]) => {
    recipients.outage = (_step, { applyId }) => applyIds.includes(applyId);
  };
  const of = (applyId: string, sentAt: number) => anEvent({}, { key: aKey(applyId), lease: `of ${applyId}`, sentAt });

  beforeEach(() => {
    for (const applyId of ['a-1', 'a-2', 'a-3']) put(sent(), {}, applyId);
  });

  it('has heard the newest mail whose event was applied', async () => {
    await apply([of('a-1', T0 + 5_000), of('a-2', T0 + 9_000), of('a-3', T0)]);

    expect(feedback.state).toEqual({ watermark: T0 + 9_000, unapplied: [] });
  });

  it('has heard it also by an event that was applied before', async () => {
    await apply([of('a-1', T0)]);
    feedback.state = { unapplied: [] };

    await apply([of('a-1', T0)]);

    expect(feedback.state.watermark).toBe(T0);
  });

  it('hears a canary (L4)', async () => {
    expect(await apply([{ kind: 'canary', sentAt: T0 + 60_000, isSend: true }])).toEqual([false]);

    expect(feedback.state.watermark).toBe(T0 + 60_000);
    expect(told()).toEqual(['canary']);
  });

  it('never forgets what it heard', async () => {
    feedback.state = { ...feedback.state, watermark: T0 + 60_000 };

    await apply([of('a-1', T0)]);

    expect(feedback.state.watermark).toBe(T0 + 60_000);
  });

  it('cannot have heard of mails that are still to be sent', async () => {
    await apply([of('a-1', clock.now() + 999_999)]);

    expect(feedback.state.watermark).toBe(clock.now());
  });

  it('is written once for each second of mails, however many events come', async () => {
    const moveWatermark = vi.spyOn(feedback, 'moveWatermark');

    for (const ms of [0, 400, 999, 1_000, 1_500, 2_100]) await apply([of('a-1', T0 + ms)]);

    expect(moveWatermark.mock.calls).toEqual([[T0], [T0 + 1_000], [T0 + 2_100]]);
  });

  it('holds each event that failed, and has heard the others all the same (E5)', async () => {
    failing('a-1');

    expect(await apply([of('a-1', T0), of('a-2', T0 + 90_000)])).toEqual([true, false]);

    expect(feedback.state).toEqual({ watermark: T0 + 90_000, unapplied: [{ lease: 'of a-1', sentAt: T0 }] });
  });

  it('holds it before it has heard the others, so that nobody meets the mark without the hold (E5)', async () => {
    failing('a-1');
    const [hold, moveWatermark] = [vi.spyOn(feedback, 'addUnapplied'), vi.spyOn(feedback, 'moveWatermark')];

    await apply([of('a-1', T0), of('a-2', T0 + 90_000)]);

    const [held = Infinity] = hold.mock.invocationCallOrder;
    expect(moveWatermark.mock.invocationCallOrder[0]).toBeGreaterThan(held);
  });

  it('holds it once however often it fails', async () => {
    failing('a-1');

    for (let i = 0; i < 5; i += 1) await apply([of('a-1', T0)]);

    expect(feedback.state.unapplied).toHaveLength(1);
  });

  it('lets go of it when the event is applied at last', async () => {
    failing('a-1');
    await apply([of('a-1', T0)]);
    failing();

    await apply([of('a-1', T0)]);

    expect(feedback.state.unapplied).toEqual([]);
  });

  it('does not hold one when another about the same attempt was applied: the mail is known to be taken', async () => {
    let asked = 0;
    recipients.outage = () => (asked += 1) === 1;
    const hold = vi.spyOn(feedback, 'addUnapplied');

    expect(await apply([of('a-1', T0), of('a-1', T0)])).toEqual([true, false]);

    expect(hold).not.toHaveBeenCalled();
  });

  it('lets go of it when another event about the same attempt is applied', async () => {
    feedback.state = { ...feedback.state, unapplied: [{ lease: 'of a-1', sentAt: T0 }] };

    await apply([anEvent({ kind: 'delivery' }, { lease: 'of a-1' })]);

    expect(feedback.state.unapplied).toEqual([]);
  });

  it('lets go of it when the recipient is gone', async () => {
    feedback.state = { ...feedback.state, unapplied: [{ lease: 'of nobody', sentAt: T0 }] };

    await apply([of('nobody', T0)]);

    expect(feedback.state.unapplied).toEqual([]);
  });

  it('keeps the holds of others', async () => {
    const others = [{ lease: 'of a-9', sentAt: T0 }, { sentAt: T0 }];
    feedback.state = { ...feedback.state, unapplied: others };

    await apply([of('a-1', T0)]);

    expect(feedback.state.unapplied).toEqual(others);
  });

  it('is asked once a batch, and told to let go only of what it holds', async () => {
    const [read, release] = [vi.spyOn(feedback, 'read'), vi.spyOn(feedback, 'removeUnapplied')];

    await apply([of('a-1', T0), of('a-2', T0), of('a-3', T0)]);
    await apply([{ kind: 'foreign' }]);

    expect(read).toHaveBeenCalledTimes(1);
    expect(release).not.toHaveBeenCalled();
  });

  it('has heard nothing while there is no room for a hold', async () => {
    failing('a-1');
    const holds = Array.from({ length: MOST_UNAPPLIED }, (_, i) => ({ lease: `l-${i}`, sentAt: T0 }));
    feedback.state = { ...feedback.state, unapplied: holds };

    expect(await apply([of('a-1', T0), of('a-2', T0 + 90_000)])).toEqual([true, false]);

    expect(feedback.state).toEqual({ unapplied: holds });
    expect(told()).toContain('unapplied-not-kept');
  });

  it('makes room even then for what was applied', async () => {
    failing('a-1');
    const holds = Array.from({ length: MOST_UNAPPLIED }, (_, i) => ({ lease: i === 0 ? 'of a-2' : `l-${i}`, sentAt: T0 }));
    feedback.state = { ...feedback.state, unapplied: holds };

    await apply([of('a-1', T0), of('a-2', T0 + 90_000)]);

    expect(feedback.state.unapplied).toHaveLength(MOST_UNAPPLIED - 1);
  });

  it.each([
    ['unapplied events cannot be kept', 'addUnapplied', 'unapplied-not-kept'],
    ['it cannot be asked', 'read', 'watermark-failed'],
    ['its mark cannot be moved', 'moveWatermark', 'watermark-failed'],
  ] as const)('changes nothing about what was applied when %s', async (_name, step, signal) => {
    failing('a-1');
    vi.spyOn(feedback, step).mockRejectedValue(new Error('about kim@example.com'));

    expect(await apply([of('a-1', T0), of('a-2', T0 + 90_000)])).toEqual([true, false]);

    expect(row('a-2')?.events).toHaveLength(1);
    expect(feedback.state.watermark).toBeUndefined();
    expect(told()).toContain(signal);
  });

  it.each<[string, Partial<Arrival>]>([
    ['lay in the queue for too long', { queuedAt: T0 + 3_500_000, receiveCount: 2 }],
    ['is about a mail that SES took too long ago', { receiveCount: 1 }],
    [
      'is applied long after it came, of which nobody knew',
      { queuedAt: T0 + 3_500_000, firstReceivedAt: T0 + 3_501_000, receiveCount: 2 },
    ],
  ])('tells that feedback is behind, before it moves, by an event that %s (V7)', async (_name, arrival) => {
    put(processing());
    const [behind, move] = [vi.spyOn(feedback, 'recordBehind'), vi.spyOn(feedback, 'moveWatermark')];

    await apply([of('a-1', T0)], never, { ...promptly(), ...arrival });

    expect(feedback.state).toMatchObject({ behindAt: clock.now(), watermark: T0 });
    expect(behind.mock.invocationCallOrder[0]).toBeLessThan(move.mock.invocationCallOrder[0] ?? 0);
    expect(told()).toContain('behind');
  });

  it('stays where it is when it cannot be told that feedback is behind (V7)', async () => {
    put(processing());
    vi.spyOn(feedback, 'recordBehind').mockResolvedValue(false);

    await apply([of('a-1', T0)], never, promptly());

    expect(feedback.state.watermark).toBeUndefined();
  });

  it('tells by a canary’s event as well that feedback is behind (V7)', async () => {
    await apply([{ kind: 'canary', sentAt: T0, isSend: true }], never, promptly());

    expect(feedback.state.behindAt).toBe(clock.now());
  });

  it('does not make feedback look behind by one event that was unapplied for three hours (V28)', async () => {
    put(processing());
    feedback.state = { ...feedback.state, unapplied: [{ lease: 'of a-1', sentAt: T0 }] };
    const threeHours = { queuedAt: clock.now() - 10_800_000, firstReceivedAt: clock.now() - 10_799_000, receiveCount: 180 };

    await apply([of('a-1', T0)], never, threeHours);

    expect(feedback.state.behindAt).toBeUndefined();
    expect(feedback.state.watermark).toBe(T0);
  });

  it('tells once a second that feedback is behind, however many events are late', async () => {
    const behind = vi.spyOn(feedback, 'recordBehind');
    put(processing());

    await apply([of('a-1', T0)], never, promptly());
    clock.advance(999);
    await apply([of('a-1', T0 + 1_000)], never, promptly());

    expect(behind).toHaveBeenCalledTimes(1);
  });
});
