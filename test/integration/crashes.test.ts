import { afterEach, describe, expect, it } from 'vitest';

import { poll, TestStack } from '../support/stack.ts';

let stack: TestStack;
afterEach(() => stack.end());

const killSenders = () => {
  for (const each of stack.launched.processes().filter((running) => running.function.startsWith('send-recipients'))) {
    try {
      process.kill(each.pid, 'SIGKILL');
    } catch {
      // It had ended by itself.
    }
  }
};

const sent = async (id: string) => (await stack.dispatch(id)).counts['SENT'] ?? 0;

describe('kill -9', () => {
  it('of everything right after the 202 loses no mail (L8, U1)', async () => {
    stack = new TestStack();
    await stack.start();
    const id = await stack.accepted('killed', stack.bodyOf(300));
    await stack.launched.kill();

    await stack.start();
    const { counts, status } = await stack.finished(id);

    expect({ sent: counts['SENT'], status }).toEqual({ sent: 300, status: 'COMPLETED' });
    expect(stack.mails(id).size).toBe(300);
  });

  it('of everything in the middle of sending loses no mail, and repeats at most what was in hand', async () => {
    stack = new TestStack({ LOCAL_SES_RATE: '60' });
    await stack.start();
    const id = await stack.accepted('middle', stack.bodyOf(300));
    await poll(
      () => sent(id),
      (count) => count > 60,
    );
    await stack.launched.kill();

    await stack.start();
    const { counts } = await stack.finished(id, 80_000);

    expect(counts['SENT']).toBe(300);
    const mails = stack.mails(id);
    expect(mails.size).toBe(300);
    // Whoever got two mails had been claimed by a sender that died with the answer in hand.
    const twice = [...mails].filter(([, count]) => count > 1).map(([address]) => address);
    const restarted = (await stack.recipients(id)).filter(({ attemptCount }) => attemptCount > 1).map(({ email }) => email);
    expect(restarted).toEqual(expect.arrayContaining(twice));
  });

  it('of the senders again and again leaves every recipient in a final state (L2, L9)', async () => {
    stack = new TestStack({ LOCAL_SES_RATE: '60' });
    await stack.start();
    const id = await stack.accepted('again', stack.bodyOf(200));
    for (const share of [20, 60, 100]) {
      await poll(
        () => sent(id),
        (count) => count >= share,
      );
      killSenders();
    }

    const { counts } = await stack.finished(id, 80_000);

    expect((counts['SENT'] ?? 0) + (counts['UNKNOWN'] ?? 0)).toBe(200);
    // A recipient that was in hand at two of the kills is UNKNOWN: it may have no mail, one or two.
    const sentTo = (await stack.recipients(id, 'status=SENT')).map(({ email }) => email);
    expect([...stack.mails(id).keys()]).toEqual(expect.arrayContaining(sentTo));
  });
});
