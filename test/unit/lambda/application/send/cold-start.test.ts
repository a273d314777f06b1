import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { applyActions } from '../../../../../lambda/application/send/apply-actions.ts';
import { createPacer } from '../../../../../lambda/application/send/rate/pacer.ts';
import { createRefreshAccount } from '../../../../../lambda/application/send/rate/refresh-account.ts';
import { createSendRate } from '../../../../../lambda/application/send/rate/send-rate.ts';
import { createSendRecipients } from '../../../../../lambda/application/send/send-recipients.ts';
import { createFakeAccounts, createFakeAccountSource, createFakeBudget } from '../../../../support/account-builders.ts';
import { aKey, aPolicy, aRecipient } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';
import { createFakeDispatches } from '../../../../support/fake-control.ts';
import { createFakeLedger } from '../../../../support/fake-ledger.ts';
import { createFakeContents, createFakeProvider, createFakeRecipients, plainRenderer } from '../../../../support/fakes.ts';
import { createSimulatedQueue } from '../../../../support/simulated-queue.ts';

const BATCH = 10;
const now = () => Date.now();
const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

beforeEach(() => {
  vi.useFakeTimers({ now: T0 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Senders that start at once, each with a full batch, in an account of 1,000 mails a second that nobody has read yet. */
const startCold = ({ senders, maxSendRate, isAnswered }: { senders: number; maxSendRate: number; isAnswered: boolean }) => {
  const applyIds = Array.from({ length: senders * BATCH }, (_, i) => `a-${i}`);
  const recipients = createFakeRecipients(
    applyIds.map((applyId) => [aKey(applyId), aRecipient(undefined, { applyId })] as const),
  );
  const clock = { now, sleep, advance: () => undefined, to: () => undefined, slept: [] };
  const policy = aPolicy({ maxReceiveCount: 1_000 });
  const queue = createSimulatedQueue(clock, policy);
  const provider = createFakeProvider();
  const dispatches = createFakeDispatches(recipients);
  const accounts = createFakeAccounts();
  const budget = createFakeBudget(now);
  const source = createFakeAccountSource(now, 1_000);
  const { answer } = source;
  source.answer = () => sleep(100).then(() => (isAnswered ? answer() : Promise.reject(new Error('throttled'))));
  let sentMs = 0;

  const createSender = (name: number) => {
    const refresh = createRefreshAccount({ budget, accounts, source, clock: now, sleep, observe: () => undefined });
    const random = () => (name % 10) / 10;
    const send = createSendRecipients({
      recipients,
      dispatches,
      contents: createFakeContents(),
      ledger: createFakeLedger(),
      renderer: plainRenderer,
      isAllowedRecipient: () => true,
      provider,
      pacer: createPacer({
        clock: now,
        sendRate: createSendRate({ accounts, refresh, maxSendRate, clock: now, sleep }),
        rateShare: 0.9,
        senders,
        parallelCalls: BATCH,
      }),
      guard: {
        acquire: () => Promise.resolve({ may: 'send' }),
        pausedUntil: () => Promise.resolve(undefined),
        weigh: (given) => Promise.resolve(given),
        record: () => Promise.resolve(),
      },
      stopRule: { refused: () => Promise.resolve(), stop: () => Promise.resolve() },
      policy,
      clock: now,
      random,
      newId: () => `lease-${name}-${Math.random()}`,
      sleep,
      observe: () => undefined,
    });

    const invoke = async (): Promise<void> => {
      const received = queue.receive(BATCH);
      const receivedAt = now();
      const actions = await send(
        received.map(({ message }) => message),
        () => receivedAt + 30_000 - now(),
      );
      if (actions.some(({ do: done }) => done === 'delete')) sentMs = Math.max(sentMs, now() - T0);
      const inHand = received.map(({ receiptHandle, message: { key } }, i) => ({
        receiptHandle,
        key,
        action: actions[i] ?? { do: 'keep-failing' as const },
      }));
      const stays = await applyActions(queue, now, inHand);
      for (const [i, { receiptHandle }] of inHand.entries()) if (stays[i] === false) queue.remove(receiptHandle);
    };
    return async (): Promise<void> => {
      for (let next = queue.nextVisibleAt(); next !== undefined; next = queue.nextVisibleAt()) {
        if (next > now()) await sleep(Math.min(1_000, next - now()));
        else await invoke();
      }
    };
  };

  const run = async (forMs: number): Promise<void> => {
    await queue.send(applyIds.map((applyId) => ({ key: aKey(applyId), delaySeconds: 0 })));
    for (let i = 0; i < senders; i += 1) void createSender(i)();
    await vi.advanceTimersByTimeAsync(forMs);
  };
  /** What the queue was told, in seconds. */
  const longest = () =>
    Math.max(0, ...queue.hides.map(({ seconds }) => seconds), ...queue.sends.map(({ delaySeconds }) => delaySeconds));
  const isSent = () => recipients.all().every(({ recipient }) => recipient.status === 'SENT');
  return { run, isSent, source, longest, allSent: () => sentMs / 1000 };
};

describe('senders that start before anybody has read the account', () => {
  it.each([5, 16, 100])('of %i no one hides a message for longer than 15 s, and one asks SES (V8)', async (senders) => {
    const cold = startCold({ senders, maxSendRate: 0, isAnswered: true });

    await cold.run(60_000);

    process.stdout.write(`${senders} senders: hidden for ${cold.longest()} s at most, all sent after ${cold.allSent()} s\n`);
    expect(cold.isSent()).toBe(true);
    expect(cold.longest()).toBeLessThanOrEqual(15);
    expect(cold.source.askedAt).toHaveLength(1);
  });

  it.each([5, 16, 100])('of %i no one hides a message for longer while SES does not answer (V8)', async (senders) => {
    const cold = startCold({ senders, maxSendRate: 0, isAnswered: false });

    await cold.run(60_000);

    expect(cold.longest()).toBeLessThanOrEqual(15);
    expect(cold.source.askedAt.length).toBeGreaterThan(1);
    // Five seconds and the way of a slot lie between two calls, however many senders ask.
    expect(cold.source.askedAt.length).toBeLessThanOrEqual(13);
  });

  it.each([5, 16, 100])('of %i all send at once by the setting, though SES does not answer (V8)', async (senders) => {
    const cold = startCold({ senders, maxSendRate: 1_000, isAnswered: false });

    await cold.run(60_000);

    expect(cold.isSent()).toBe(true);
    expect(cold.longest()).toBeLessThanOrEqual(15);
  });
});
