import { describe, expect, it } from 'vitest';

import { createBeginEstimate, type EstimateDeps } from '../../../../../lambda/application/accept/estimate.ts';
import { T0 } from '../../../../support/clock.ts';

const BY_OPERATOR = { by: 'operator', who: 'operator-1', since: T0 } as const;
const never = () => new Promise<never>(() => undefined);
const deps = (more: Partial<EstimateDeps> = {}): EstimateDeps => ({
  accountQuota: () => Promise.resolve({ maxSendRate: 10, rateShare: 0.9, perDay: 50_000, sentLastDay: 0 }),
  ceiling: 1_000,
  queue: { depth: () => Promise.resolve(900) },
  sending: { read: () => Promise.resolve({ version: 0 }) },
  clock: () => T0,
  sleep: never,
  ...more,
});
const estimate = (more: Partial<EstimateDeps> = {}, total = 90) => createBeginEstimate(deps(more))()(total);

describe('an estimate', () => {
  it('comes of the account, and of what waits in the queue', async () => {
    expect(await estimate()).toEqual({ mailsPerSecond: 9, doneAt: T0 + 110_000, waitingForNextWindow: 0 });
  });

  it('promises no more than the deployed senders can send', async () => {
    expect(await estimate({ ceiling: 4.5 })).toMatchObject({ mailsPerSecond: 4.5, doneAt: T0 + 220_000 });
  });

  it('asks as soon as it is begun', async () => {
    const asked: string[] = [];
    const queue = { depth: () => Promise.resolve(asked.push('depth')) };

    const estimateFor = createBeginEstimate(deps({ queue }))();

    expect(asked).toEqual(['depth']);
    expect(await estimateFor(1)).toBeDefined();
  });

  it.each<[string, Partial<EstimateDeps>]>([
    ['while an operator holds sending', { sending: { read: () => Promise.resolve({ version: 1, pause: BY_OPERATOR }) } }],
    ['while the table does not tell whether sending is paused', { sending: { read: () => Promise.resolve('unavailable') } }],
    ['when the account may not send', { accountQuota: () => Promise.resolve(undefined) }],
    ['when the queue does not answer', { queue: { depth: () => Promise.reject(new Error('no answer')) } }],
    ['when the table fails', { sending: { read: () => Promise.reject(new Error('AccessDenied')) } }],
  ])('is none %s, and nothing is thrown', async (_name, more) => {
    expect(await estimate(more)).toBeUndefined();
  });

  it('waits for 300 ms and no longer', async () => {
    const slept: number[] = [];
    const sleep = (ms: number) => Promise.resolve(slept.push(ms)).then(() => undefined);

    expect(await estimate({ queue: { depth: never }, sleep })).toBeUndefined();
    expect(slept).toEqual([300]);
  });

  it('begun and not wanted leaves no error behind', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);

    createBeginEstimate(deps({ queue: { depth: () => Promise.reject(new Error('no answer')) } }))();

    await new Promise((done) => setImmediate(done));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});
