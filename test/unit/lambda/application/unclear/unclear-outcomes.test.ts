import { describe, expect, it } from 'vitest';

import { aKey, aMessage, anAttempt, aRecipient, pending, processing, sent, unknown } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';
import { accepted, answered503, throttledAnswer, unclear } from '../../../../support/fakes.ts';
import { createSenderWorld } from '../../../../support/sender-world.ts';

const LEASE_END = T0 + 300_000;
const row = { recipient: processing({ lease: { token: 'dead', until: LEASE_END } }), attempts: [anAttempt({ lease: 'dead' })] };

describe('an unclear answer', () => {
  it('leaves the row as it is, and is noted on the ledger in place of its message (U4)', async () => {
    const world = createSenderWorld({ answer: () => unclear });

    const [action] = await world.send([aMessage()]);

    const { recipient, attempts } = world.recipients.get(aKey()) ?? aRecipient();
    expect(recipient).toMatchObject({ status: 'PROCESSING', attemptCount: 1, lease: { token: 'lease-1' } });
    expect(attempts).toMatchObject([{ lease: 'lease-1', outcome: 'unclear', code: 'TIMED_OUT' }]);
    expect(action).toEqual({ do: 'delete' });
    expect([...world.ledger.items.values()]).toEqual([{ key: aKey(), lease: 'lease-1', dueAt: T0 + 300_001 }]);
  });

  it('keeps its message until the lease ends while the ledger cannot be written, and is noted then', async () => {
    const world = createSenderWorld({ answer: () => unclear });
    world.ledger.outage = true;
    const until = T0 + 300_001;

    expect(await world.send([aMessage()])).toEqual([{ do: 'requeue', until }]);
    world.clock.to(until);
    expect(await world.send([aMessage()])).toMatchObject([{ do: 'wait' }]);
    world.ledger.outage = false;

    expect(await world.send([aMessage(), aMessage({ id: 'm-2' })])).toEqual([{ do: 'delete' }, { do: 'delete' }]);
    expect(world.ledger.items.size).toBe(1);
    expect(world.provider.calls).toHaveLength(1);
  });

  it('remembers whether SES itself had said that it failed', async () => {
    const world = createSenderWorld({ answer: () => answered503 });

    await world.send([aMessage()]);

    expect(world.recipients.get(aKey())?.attempts).toMatchObject([{ outcome: 'unclear', answered: true }]);
  });

  it('does not touch the others of the batch (S2)', async () => {
    const world = createSenderWorld({
      applyIds: ['a-1', 'a-2'],
      answer: ({ tags }) => (tags.applyId === 'a-1' ? unclear : accepted),
    });

    const actions = await world.send([aMessage(), aMessage({ key: aKey('a-2') })]);

    expect(actions.map((action) => action.do)).toEqual(['delete', 'delete']);
    expect(world.statuses()).toEqual(['PROCESSING', 'SENT']);
  });

  it('is followed by one more mail at most under resend, then by UNKNOWN (L4)', async () => {
    const world = createSenderWorld({ answer: () => unclear, policy: { unclear: 'resend' } });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);

    await world.run();

    expect(world.provider.calls).toHaveLength(2);
    expect(world.statuses()).toEqual(['UNKNOWN']);
    expect(world.signals.map(({ type }) => type)).toEqual(['unclear', 'resent', 'unclear', 'unknown']);
    expect(world.queue.deadLetters).toEqual([]);
  });

  it('is followed by one more at most under resend, though SES throttles for long in between (L4)', async () => {
    const world = createSenderWorld({
      answer: (_call, n) => (n === 1 || n > 50 ? unclear : throttledAnswer),
      policy: { unclear: 'resend' },
    });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);

    await world.run();

    expect(world.provider.taken).toHaveLength(2);
    expect(world.statuses()).toEqual(['UNKNOWN']);
  });

  it('is never followed by a mail under manual (L4)', async () => {
    const world = createSenderWorld({ answer: () => unclear, policy: { unclear: 'manual' } });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);

    await world.run();

    expect(world.provider.calls).toHaveLength(1);
    expect(world.statuses()).toEqual(['UNKNOWN']);
  });

  it('is followed by nothing once the row became SENT meanwhile (S1)', async () => {
    const world = createSenderWorld({ answer: () => unclear });
    await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);
    await world.invoke();

    // An event of SES says that it took the mail.
    world.recipients.put(aKey(), aRecipient(sent()));
    await world.run();

    expect(world.provider.calls).toHaveLength(1);
    expect(world.statuses()).toEqual(['SENT']);
  });

  it('is not noted a millisecond before the lease ends', async () => {
    const world = createSenderWorld();
    world.recipients.put(aKey(), { ...aRecipient(row.recipient), attempts: row.attempts });
    // The jitter before the first call of a chunk takes half a millisecond's worth of 1,000 mails a second: one.
    world.clock.to(LEASE_END - 2);

    const [action] = await world.send([aMessage({ receivedAt: world.clock.now() })]);

    expect(action).toEqual({ do: 'wait', until: LEASE_END });
    expect(world.provider.calls).toEqual([]);
  });
});

describe('a worker that died after its claim (L2, L3)', () => {
  const worldAfter = (policy: 'resend' | 'manual') => {
    const world = createSenderWorld({ policy: { unclear: policy } });
    world.recipients.put(aKey(), { ...aRecipient(row.recipient), attempts: row.attempts });
    world.clock.to(LEASE_END);
    return world;
  };

  it('is followed by one more mail under resend', async () => {
    const world = worldAfter('resend');

    expect(await world.send([aMessage()])).toEqual([{ do: 'delete' }]);
    await world.run();

    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'SENT', attemptCount: 2 });
    expect(world.recipients.get(aKey())?.attempts).toMatchObject([
      { lease: 'dead', outcome: 'unclear' },
      { outcome: 'sent', n: 2 },
    ]);
  });

  it('is followed by UNKNOWN under manual', async () => {
    const world = worldAfter('manual');

    expect(await world.send([aMessage()])).toEqual([{ do: 'delete' }]);
    await world.run();

    expect(world.statuses()).toEqual(['UNKNOWN']);
    expect(world.provider.calls).toEqual([]);
  });

  it('is followed by one mail though two messages of it come a second apart (V27)', async () => {
    const world = worldAfter('resend');

    await world.send([aMessage()]);
    world.clock.advance(1_000);
    await world.send([aMessage({ id: 'm-2' })]);
    await world.run();

    expect(world.provider.calls).toHaveLength(1);
    expect(world.statuses()).toEqual(['SENT']);
  });

  it('is noted also while sending is paused, so that the night does not count', async () => {
    const world = worldAfter('resend');
    world.sending.state = { version: 1, pause: { by: 'operator', who: 'admin-1', since: T0 } };

    expect(await world.send([aMessage()])).toEqual([{ do: 'delete' }]);
    expect(world.ledger.items.size).toBe(1);
  });
});

describe('a result that cannot be written', () => {
  it('for five seconds is written later in the same invocation, with one mail (L5)', async () => {
    const world = createSenderWorld();
    let since: number | undefined;
    world.recipients.outage = (step) => {
      if (step !== 'write') return false;
      since ??= world.clock.now();
      return world.clock.now() < since + 5_000;
    };

    expect(await world.send([aMessage()])).toEqual([{ do: 'delete' }]);
    expect(world.provider.calls).toHaveLength(1);
    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'SENT', messageId: 'ses-1' });
    expect(world.signals.map(({ type }) => type)).toEqual(['sent']);
  });

  it('at all leaves the row as it is; a fresh message comes when the lease has ended (L5)', async () => {
    const world = createSenderWorld();
    world.recipients.outage = (step) => step === 'write';

    const [action] = await world.send([aMessage()]);

    const row = world.recipients.get(aKey())?.recipient;
    expect(row).toMatchObject({ status: 'PROCESSING', attemptCount: 1 });
    expect(action).toEqual({ do: 'requeue', until: row?.status === 'PROCESSING' && row.lease.until });
    expect(world.signals.map(({ type }) => type)).toEqual(['sent', 'not-recorded']);
  });

  it('is not waited for beyond the invocation', async () => {
    const world = createSenderWorld();
    world.recipients.outage = (step) => step === 'write';
    const startedAt = world.clock.now();

    await world.send([aMessage()], 30_000);

    expect(world.clock.now() - startedAt).toBeLessThan(30_000);
  });

  it('is written again even after an error nobody expected (U10)', async () => {
    const world = createSenderWorld();
    const writeAll = world.recipients.writeAll.bind(world.recipients);
    let tries = 0;
    world.recipients.writeAll = (writes) => {
      tries += 1;
      return tries === 1 ? Promise.reject(new Error('no permission')) : writeAll(writes);
    };

    expect(await world.send([aMessage()])).toEqual([{ do: 'delete' }]);
    expect(world.statuses()).toEqual(['SENT']);
    expect(world.provider.calls).toHaveLength(1);
  });

  it('of one recipient does not delay what the others came to', async () => {
    const world = createSenderWorld({ applyIds: ['a-1', 'a-2'] });
    world.recipients.outage = (step, { applyId }) => step === 'write' && applyId === 'a-1';

    const actions = await world.send([aMessage(), aMessage({ key: aKey('a-2') })]);

    expect(actions.map((action) => action.do)).toEqual(['requeue', 'delete']);
    expect(world.statuses()).toEqual(['PROCESSING', 'SENT']);
    expect(world.recipients.writes.filter(({ key }) => key.applyId === 'a-2')).toHaveLength(1);
  });
});

describe('a worker that wakes after its lease has ended (L6)', () => {
  it('changes nothing when another has finished, but a second mail is counted', async () => {
    const world = createSenderWorld({
      answer: () => {
        world.recipients.put(aKey(), aRecipient(sent({ messageId: 'ses-other', attemptCount: 2 })));
        world.clock.to(T0 + 400_000);
        return accepted;
      },
    });

    const [action] = await world.send([aMessage()], 600_000);

    const row = world.recipients.get(aKey());
    expect(row?.recipient).toMatchObject({ messageId: 'ses-other' });
    expect(row?.attempts).toMatchObject([{ lease: 'lease-1', outcome: 'sent', messageId: 'ses-1' }]);
    expect(action?.do).toBe('wait');
    expect(world.signals.map(({ type }) => type)).toEqual(['sent', 'not-recorded', 'duplicate']);
  });

  it.each(['PENDING', 'UNKNOWN'] as const)('records what SES answered though it was settled as %s meanwhile', async (status) => {
    const world = createSenderWorld({
      answer: () => {
        const row = world.recipients.get(aKey()) ?? aRecipient();
        world.recipients.put(aKey(), { ...row, recipient: status === 'PENDING' ? pending({ attemptCount: 1 }) : unknown() });
        return accepted;
      },
    });

    await world.send([aMessage()]);

    expect(world.recipients.get(aKey())?.recipient).toMatchObject({ status: 'SENT', messageId: 'ses-1' });
    expect(world.signals.map(({ type }) => type)).toEqual(['sent', 'not-recorded', 'late']);
  });

  it('leaves a row alone that another has claimed', async () => {
    const theirs = aRecipient(processing({ attemptCount: 2, lease: { token: 'theirs', until: T0 + 900_000 } }));
    const world = createSenderWorld({
      answer: () => {
        world.recipients.put(aKey(), theirs);
        return accepted;
      },
    });

    await world.send([aMessage()]);

    expect(world.recipients.get(aKey())).toEqual(theirs);
  });

  it('records what SES answered as long as its token stands', async () => {
    const world = createSenderWorld({
      answer: () => {
        world.clock.to(T0 + 400_000);
        return accepted;
      },
    });

    expect(await world.send([aMessage()], 600_000)).toEqual([{ do: 'delete' }]);
    expect(world.statuses()).toEqual(['SENT']);
  });
});
