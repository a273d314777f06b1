import { describe, expect, it } from 'vitest';

import {
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
} from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';
import { permanent, transient } from '../../../../support/fakes.ts';
import { createSenderWorld, type SenderWorld } from '../../../../support/sender-world.ts';

const ids = (n: number): string[] => Array.from({ length: n }, (_, i) => `a-${i + 1}`);
const enqueue = (world: SenderWorld, n: number) =>
  world.queue.send(ids(n).map((applyId) => ({ key: aKey(applyId), delaySeconds: 0 })));
const overdue = processing({ lease: { token: 'dead', until: T0 } });

const worldWith = (status: 'STOPPED' | 'CANCELLED', row: Parameters<typeof aRecipient>[0]) => {
  const world = createSenderWorld();
  world.dispatches.set(DISPATCH_ID, { status });
  world.recipients.put(aKey(), {
    ...aRecipient(row),
    attempts: [anAttempt({ lease: 'dead', startedAt: T0 - 370_000, outcome: 'unclear' })],
  });
  return world;
};

describe('in a stopped dispatch a message for', () => {
  it('a pending row is deleted, and the row stays as it is', async () => {
    const world = worldWith('STOPPED', pending());

    expect(await world.send([aMessage()])).toEqual([{ do: 'delete' }]);
    expect(world.statuses()).toEqual(['PENDING']);
    expect(world.provider.calls).toEqual([]);
  });

  it('a row of a dead worker notes it: taken as unsent, it is pending, and a resume finds it so (Q9)', async () => {
    const world = worldWith('STOPPED', overdue);
    await world.feedback.moveWatermark(T0);

    expect(await world.send([aMessage()])).toEqual([{ do: 'delete' }]);
    await world.run();

    expect(world.statuses()).toEqual(['PENDING']);
    expect(world.provider.calls).toEqual([]);
  });

  it('a row of a worker that is sending waits', async () => {
    const world = worldWith('STOPPED', processing({ lease: { token: 'theirs', until: T0 + 60_000 } }));

    expect(await world.send([aMessage()])).toEqual([{ do: 'wait', until: T0 + 60_000 }]);
  });

  it('used-up attempts reopens when it was redriven; it is sent after a resume (Q6b)', async () => {
    const world = worldWith('STOPPED', exhausted());

    expect(await world.send([aMessage({ sentAt: T0 + 1 })])).toEqual([{ do: 'delete' }]);
    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'PENDING', round: 2 });
  });
});

describe('in a cancelled dispatch a message for', () => {
  it('a pending row cancels it', async () => {
    const world = worldWith('CANCELLED', pending());

    expect(await world.send([aMessage()])).toEqual([{ do: 'delete' }]);
    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'CANCELLED', cancelledAt: T0 });
    expect(world.signals.map(({ type }) => type)).toEqual(['cancelled']);
  });

  it('a pending row stays on the queue when it could not be cancelled', async () => {
    const world = worldWith('CANCELLED', pending());
    world.recipients.outage = (step) => step === 'cancel';

    expect(await world.send([aMessage()])).toMatchObject([{ do: 'wait' }]);
  });

  it('a row of a dead worker notes it: taken as unsent, it is cancelled (Q9)', async () => {
    const world = worldWith('CANCELLED', overdue);
    await world.feedback.moveWatermark(T0);

    expect(await world.send([aMessage()])).toEqual([{ do: 'delete' }]);
    await world.run();

    expect(world.statuses()).toEqual(['CANCELLED']);
    expect(world.provider.calls).toEqual([]);
  });

  it('used-up attempts is deleted, even if it was redriven', async () => {
    const world = worldWith('CANCELLED', exhausted());

    expect(await world.send([aMessage({ sentAt: T0 + 1 })])).toEqual([{ do: 'delete' }]);
    expect(world.statuses()).toEqual(['FAILED']);
  });

  it.each([sent(), failed()])('a final row is deleted: $status', async (row) => {
    const world = worldWith('CANCELLED', row);

    expect(await world.send([aMessage()])).toEqual([{ do: 'delete' }]);
    expect(world.statuses()).toEqual([row.status]);
  });
});

describe('a dispatch whose mails SES refuses', () => {
  it('is stopped after ten and what was in flight; the others stay pending (S10)', async () => {
    const world = createSenderWorld({ applyIds: ids(60), answer: () => permanent });
    await enqueue(world, 60);

    await world.run();

    expect(world.dispatches.get(DISPATCH_ID)).toMatchObject({ status: 'STOPPED', failureReason: 'permanent-failures' });
    expect(world.dispatches.stops).toMatchObject([{ reason: 'permanent-failures', faultCode: 'MESSAGE_REJECTED' }]);
    expect(world.statuses().filter((status) => status === 'FAILED')).toHaveLength(10);
    expect(world.statuses().filter((status) => status === 'PENDING')).toHaveLength(50);
    expect(world.signals.filter(({ type }) => type === 'stopped')).toEqual([
      { type: 'stopped', key: aKey('a-1'), code: 'MESSAGE_REJECTED' },
    ]);
  });

  it('is stopped as well by senders that may run for ten seconds only (S10)', async () => {
    const policy = { sesTimeoutSeconds: 3 };
    const world = createSenderWorld({ applyIds: ids(60), answer: () => permanent, policy, invocationMs: 10_000 });
    await enqueue(world, 60);

    await world.run();

    expect(world.dispatches.stops).toHaveLength(1);
  });

  it('goes on when most were sent', async () => {
    const world = createSenderWorld({
      applyIds: ids(60),
      answer: (_call, n) => (n % 3 === 0 ? permanent : { kind: 'accepted', messageId: `ses-${n}` }),
    });
    await enqueue(world, 60);

    await world.run();

    expect(world.dispatches.stops).toEqual([]);
    expect(world.statuses().filter((status) => status === 'FAILED')).toHaveLength(20);
  });

  it('has its rows counted no more than once in two seconds', async () => {
    const world = createSenderWorld({
      applyIds: ids(200),
      answer: (_call, n) => (n % 2 === 0 ? permanent : { kind: 'accepted', messageId: `ses-${n}` }),
    });
    await enqueue(world, 200);

    await world.run();

    const seconds = (world.clock.now() - T0) / 1000;
    expect(world.dispatches.counted).toBeGreaterThan(0);
    expect(world.dispatches.counted).toBeLessThanOrEqual(1 + seconds / 2);
  });

  it('has its mails recorded although the count fails (U10)', async () => {
    const world = createSenderWorld({ applyIds: ids(12), answer: () => permanent });
    world.dispatches.addRefused = () => Promise.reject(new Error('no permission'));
    await enqueue(world, 12);

    await world.run();

    expect(world.statuses()).toEqual(new Array(12).fill('FAILED'));
  });

  it('is not stopped by attempts that pass', async () => {
    const world = createSenderWorld({ applyIds: ids(12), answer: () => transient, policy: { attemptsPerRound: 1 } });
    await enqueue(world, 12);

    await world.run(60_000);

    expect(world.dispatches.stops).toEqual([]);
  });
});
