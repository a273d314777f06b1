import { describe, expect, it } from 'vitest';

import { createOwnCredentials } from '../../../../../../lambda/application/send/pause/own-credentials.ts';
import { createSharedCanary } from '../../../../../../lambda/application/send/pause/shared-canary.ts';
import type { SendAnswer } from '../../../../../../lambda/domain/sending/send-answer.ts';
import { createFakeClock, T0 } from '../../../../../support/clock.ts';
import { createFakeCanaries } from '../../../../../support/fake-canaries.ts';
import {
  accepted,
  accountTrouble,
  credentialsRefused,
  permanent,
  throttledAnswer,
  transient,
  unclear,
} from '../../../../../support/fakes.ts';

const SECOND = 1_000;
const MINUTE = 60_000;

/** Environments that share what the table says of canaries, and nothing else. */
const createFleet = (size: number, answer: () => SendAnswer | Promise<SendAnswer>) => {
  const clock = createFakeClock();
  const canaries = createFakeCanaries();
  const sentAt: number[] = [];
  const sendCanary = async () => {
    sentAt.push(clock.now() - T0);
    return answer();
  };
  const environments = Array.from({ length: size }, (_, i) =>
    createOwnCredentials({
      canaries,
      canary: createSharedCanary(canaries, { sendCanary }, 'from@example.com', clock.now),
      environment: `e-${i}`,
      clock: clock.now,
      random: () => i / size,
    }),
  );
  return { clock, canaries, environments, sentAt };
};

const createOne = (answer: () => SendAnswer | Promise<SendAnswer>) => {
  const fleet = createFleet(1, answer);
  const [environment] = fleet.environments;
  if (environment === undefined) throw new Error('no environment');
  return { ...fleet, environment };
};

describe('credentials that expired in every environment', () => {
  it('let all of them work again soon after they are good, one canary each and not all at once (V35)', async () => {
    const { clock, environments, sentAt } = createFleet(24, () => accepted);
    for (const each of environments) await each.refused();

    const working = new Set<number>();
    while (working.size < environments.length && clock.now() < T0 + 5 * MINUTE) {
      for (const [i, each] of environments.entries()) {
        if (!working.has(i) && (await each.check()) === undefined) working.add(i);
      }
      clock.advance(250);
    }

    expect(working.size).toBe(24);
    expect(clock.now() - T0).toBeLessThanOrEqual(76 * SECOND);
    expect(sentAt).toHaveLength(24);
    expect(Math.min(...sentAt)).toBeGreaterThanOrEqual(MINUTE);
    for (const at of sentAt) expect(sentAt.filter((other) => other >= at && other < at + SECOND).length).toBeLessThanOrEqual(3);
  });

  it('take nothing of the canaries that senders share', async () => {
    const { clock, canaries, environments } = createFleet(3, () => credentialsRefused);
    for (const each of environments) await each.refused();

    clock.advance(2 * MINUTE);
    for (const each of environments) await each.check();

    expect(canaries.bookedAt).toBeUndefined();
    expect(canaries.result).toBeUndefined();
  });
});

describe('an environment whose credentials were refused', () => {
  it.each([
    ['accepts the canary', accepted],
    ['asks for a slower pace', throttledAnswer],
    ['refuses it for the account’s sake', accountTrouble],
    ['refuses it for its own sake', permanent],
  ])('works again when SES %s', async (_name, answer) => {
    const { clock, environment } = createOne(() => answer);
    await environment.refused();
    clock.advance(MINUTE);

    expect(await environment.check()).toBeUndefined();
    expect(await environment.check()).toBeUndefined();
  });

  it.each([
    ['has trouble', transient],
    ['is not heard', unclear],
  ])('tries again after 15 s when SES %s', async (_name, answer) => {
    const { clock, environment, sentAt } = createOne(() => answer);
    await environment.refused();
    clock.advance(MINUTE);

    for (let second = 0; second < 30; second += 1) {
      expect(await environment.check()).toBeDefined();
      clock.advance(SECOND);
    }

    expect(sentAt).toEqual([MINUTE, MINUTE + 15 * SECOND]);
  });

  it('sends one canary for callers at once', async () => {
    const { clock, environment, sentAt } = createOne(() => Promise.resolve(credentialsRefused));
    await environment.refused();
    clock.advance(MINUTE);

    const until = await Promise.all([environment.check(), environment.check()]);

    expect(until).toEqual([T0 + 75 * SECOND, T0 + 75 * SECOND]);
    expect(sentAt).toEqual([MINUTE]);
  });

  it('waits twice as long each time, ten minutes at most', async () => {
    const { clock, environment, sentAt } = createOne(() => credentialsRefused);
    await environment.refused();

    while (sentAt.length < 6) {
      await environment.check();
      clock.advance(SECOND);
    }

    expect(sentAt.map((at, i) => (at - (sentAt[i - 1] ?? 0)) / SECOND)).toEqual([60, 120, 240, 480, 600, 600]);
  });
});
