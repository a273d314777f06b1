import { beforeAll, describe, expect, it } from 'vitest';

import { applyIdOf, type RawRow } from '../../local/table-rows.ts';
import type { DispatchBody } from '../chaos/request.ts';
import { madeOf } from '../support/attempts.ts';
import { checkFromOutside } from '../support/invariants.ts';
import { poll } from '../support/stack.ts';
import { CRASH_HOOKS } from '../support/stack-settings.ts';
import { useStack } from '../support/use-stack.ts';

const ATTEMPTS = 2;
const stack = useStack('dead-letters', {
  LOCAL_HOOKS: CRASH_HOOKS,
  ATTEMPTS_PER_ROUND: String(ATTEMPTS),
  BACKOFF_CAP_SECONDS: '1',
  // The usual rate, named so that this is a stack of its own: recipients of other files that used up their attempts would come
  // among the dead letters that are counted here.
  LOCAL_SES_RATE: '1000',
});
const bodies = new Map<string, DispatchBody>();

const post = (key: string, addresses: readonly string[]): Promise<string> => {
  const body = stack.bodyOf(addresses.length);
  const recipients = body.recipients.map((recipient, i) => ({ ...recipient, email: addresses[i] ?? '' }));
  bodies.set(key, { ...body, recipients });
  return stack.accepted(key, { ...body, recipients });
};

/** The row of an address. */
const row = async (key: string, address: string): Promise<RawRow> => {
  const rows = await stack.table.rows(stack.idOf(key));
  const found = rows.find(({ email }) => email === address);
  if (found === undefined) throw new Error(`${key} has no row for ${address}`);
  return found;
};

const rowIs = (key: string, address: string, status: string, round: number) =>
  poll(
    () => row(key, address),
    (found) => found.status === status && found.round === round,
  );

const deadLetters = (count: number) =>
  poll(
    () => stack.queues.deadLetters(),
    (depth) => depth === count,
  );

/**
 * A dead letter of ours for a row, as the relay would have made its message. SQS itself moves a message only after all its
 * receives; what redrive does with it depends on its body and on the row alone.
 */
const bury = async (key: string, address: string) => {
  const found = await row(key, address);
  const message = { v: 1, id: crypto.randomUUID(), dispatchId: stack.idOf(key), shard: Number(found.pk.split('#')[2]) };
  await stack.queues.putDead({ ...message, applyId: applyIdOf(found), enqueuedAt: new Date().toISOString() });
};

const queueIsQuiet = () =>
  poll(
    async () => ({ ...(await stack.queues.sends()), delayed: 0 }),
    ({ visible, inFlight }) => visible === 0 && inFlight === 0,
  );

const stubborn = 'stubborn@example.com';
const used = 'used-up@example.com';
const sent = 'sent@example.com';
const refused = 'bad-request@simulator.localhost';
const waiting = 'waiting@example.com';
const stopped = Array.from({ length: 24 }, (_, i) => `stopped-${i}@example.com`);
/** Still waiting when the others are refused, so that there is something to stop. */
const held = Array.from({ length: 3 }, (_, i) => `held-${i}@example.com`);

/** Never fails of itself: the fault ends after so many calls. */
const failFor = (address: string, calls: number) => stack.fault({ fault: 'conflict', recipient: address, times: calls });

beforeAll(async () => {
  for (const address of [stubborn, used, 'first-of-stopped@']) await failFor(address, ATTEMPTS);
  for (const some of ['stopped-', 'held-']) await stack.fault({ fault: 'throttle', recipient: some });
  await post('mixed', [stubborn, used, sent, refused]);
  await post('stopped', ['first-of-stopped@example.com', ...stopped, ...held]);
  // Only now are the others refused: the first one has used up its attempts before its dispatch is stopped.
  for (const address of [stubborn, used]) await rowIs('mixed', address, 'FAILED', 1);
  await rowIs('stopped', 'first-of-stopped@example.com', 'FAILED', 1);
  await stack.clearFaults();
  await failFor(stubborn, ATTEMPTS);
  await stack.fault({ fault: 'bad-request', recipient: 'stopped-' });
  await stack.fault({ fault: 'throttle', recipient: 'held-' });
});

describe('a message whose recipient has used up its attempts', () => {
  it('is moved to the dead letters by SQS itself, after exactly so many attempts (Q4, U5)', async () => {
    for (const address of [stubborn, used]) {
      const failed = await rowIs('mixed', address, 'FAILED', 1);
      expect(failed).toMatchObject({ lastErrorCode: 'ATTEMPTS_EXHAUSTED', attemptCount: ATTEMPTS });
      const attempt = { outcome: 'retry', code: 'TRANSIENT_FAILURE' };
      expect(madeOf(failed.attempts)).toMatchObject(new Array(ATTEMPTS).fill(attempt));
    }
    expect(await deadLetters(3)).toBe(3);
  });
});

describe('a redrive while sending is paused', () => {
  it('reopens who used up the attempts, sends nothing, and drops what is settled (Q6b)', async () => {
    await poll(
      () => stack.dispatch(stack.idOf('stopped')),
      ({ status, counts }) => status === 'STOPPED' && counts['PROCESSING'] === 0,
    );
    const unknown = { v: 1, id: 'x', dispatchId: 'nowhere', shard: 0, applyId: 'a', enqueuedAt: new Date().toISOString() };
    for (const body of ['not JSON', { ...unknown, v: 99 }, unknown]) await stack.queues.put(body);
    await deadLetters(6);
    await stack.pause();
    await post('waiting', [waiting]);
    await bury('mixed', sent);
    await bury('mixed', refused);
    await bury('waiting', waiting);
    const mailsBefore = stack.mails(stack.idOf('mixed')).size;

    expect(await stack.queues.redrive()).toBe(9);

    for (const address of [stubborn, used]) await rowIs('mixed', address, 'PENDING', 2);
    await queueIsQuiet();
    expect(await row('mixed', sent)).toMatchObject({ status: 'SENT', round: 1, attemptCount: 1 });
    expect(await row('mixed', refused)).toMatchObject({ status: 'FAILED', round: 1, attemptCount: 1 });
    expect(await row('waiting', waiting)).toMatchObject({ status: 'PENDING', round: 1, attemptCount: 0 });
    expect(stack.mails(stack.idOf('mixed')).size).toBe(mailsBefore);
  });

  it('reopens one in a stopped dispatch, which stays stopped (Q6b)', async () => {
    await rowIs('stopped', 'first-of-stopped@example.com', 'PENDING', 2);

    expect((await stack.table.dispatch(stack.idOf('stopped'))).status).toBe('STOPPED');
  });

  it('brings back to the dead letters what nobody can understand (Q2)', async () => {
    expect(await deadLetters(3)).toBe(3);
  });
});

describe('sending again after the pause', () => {
  it('gives the reopened and the waiting their mail, once (Q6b, Q7)', async () => {
    await stack.sending({ paused: false });

    await rowIs('mixed', used, 'SENT', 2);
    await rowIs('waiting', waiting, 'SENT', 1);
    expect(stack.mails(stack.idOf('mixed')).get(used)).toBe(1);
    expect(stack.mails(stack.idOf('waiting')).get(waiting)).toBe(1);
  });

  it('makes a dead letter again of who fails again, and a second redrive reopens that one too (Q6b)', async () => {
    await rowIs('mixed', stubborn, 'FAILED', 2);
    await deadLetters(4);
    await stack.crash({ point: 'reopen-after', about: stack.idOf('mixed') });

    expect(await stack.queues.redrive()).toBe(4);

    // The worker that reopened it dies before it can delete the message, which comes back to a row that is open, or sent.
    await stack.crashed();
    await rowIs('mixed', stubborn, 'SENT', 3);
    await deadLetters(3);
    await queueIsQuiet();
    const body = bodies.get('mixed') ?? stack.bodyOf(0);
    expect(await checkFromOutside(stack, stack.idOf('mixed'), body, { attemptsPerRound: ATTEMPTS })).toMatchObject({
      sent: 3,
      failed: 1,
      duplicates: 0,
      lost: 0,
    });
  });
});

describe('resuming a stopped dispatch', () => {
  it('sends to who was redriven meanwhile, and to those who failed by what stopped it (Q6b, S10)', async () => {
    const id = stack.idOf('stopped');
    await stack.clearFaults();

    expect((await stack.operate(id, 'resume')).status).toBe(202);

    await stack.finished(id);
    const body = bodies.get('stopped') ?? stack.bodyOf(0);
    expect(await checkFromOutside(stack, id, body, { attemptsPerRound: ATTEMPTS })).toMatchObject({ sent: 28, duplicates: 0 });
  });
});
