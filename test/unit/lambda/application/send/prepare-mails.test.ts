import { describe, expect, it } from 'vitest';

import type { MailRenderer } from '../../../../../lambda/application/ports/provider.ts';
import { aKey, aMessage, anAttempt, aRecipient, pending } from '../../../../support/builders.ts';
import { accepted, plainRenderer } from '../../../../support/fakes.ts';
import { createSenderWorld } from '../../../../support/sender-world.ts';

const IDS = ['a-1', 'a-2', 'a-3', 'a-4'];
const MESSAGES = IDS.map((applyId, i) => aMessage({ key: aKey(applyId), id: `m-${i + 1}` }));

describe('the mails of a chunk', () => {
  it('are all rendered before the first call to SES', async () => {
    const events: string[] = [];
    const renderer: MailRenderer = {
      render: (dispatchId, content, recipientInput) => {
        events.push('render');
        return plainRenderer.render(dispatchId, content, recipientInput);
      },
    };
    const answer = () => {
      events.push('call');
      return accepted;
    };
    const world = createSenderWorld({ applyIds: IDS, renderer, answer });
    // A full bucket: all four are one chunk.
    world.clock.advance(10_000);

    await world.send(MESSAGES);

    expect(events).toEqual(['render', 'render', 'render', 'render', 'call', 'call', 'call', 'call']);
  });

  it('that cannot be rendered fail alone', async () => {
    const renderer: MailRenderer = {
      render: (dispatchId, content, recipientInput) =>
        recipientInput.applyId === 'a-2'
          ? { ok: false, code: 'MAIL_TOO_LARGE' }
          : plainRenderer.render(dispatchId, content, recipientInput),
    };
    const world = createSenderWorld({ applyIds: IDS, renderer, answer: () => accepted });
    world.clock.advance(10_000);

    await world.send(MESSAGES);

    expect(world.statuses()).toEqual(['SENT', 'FAILED', 'SENT', 'SENT']);
    expect(world.recipients.get(aKey('a-2'))?.recipient).toMatchObject({ lastErrorCode: 'MAIL_TOO_LARGE' });
  });

  it('of which one takes longer than half of the time before a call are cut: the rest is given back and sent later', async () => {
    const world = createSenderWorld({
      applyIds: IDS,
      renderer: {
        render: (dispatchId, content, recipientInput) => {
          if (recipientInput.applyId === 'a-2') world.clock.advance(5_001);
          return plainRenderer.render(dispatchId, content, recipientInput);
        },
      },
      answer: () => accepted,
    });
    world.clock.advance(10_000);

    await world.send(MESSAGES);

    expect(world.statuses()).toEqual(['SENT', 'SENT', 'PENDING', 'PENDING']);
    expect(world.recipients.get(aKey('a-3'))).toMatchObject({
      recipient: { attemptCount: 0 },
      attempts: [{ outcome: 'given-back', code: 'NO_TIME_LEFT' }],
    });

    world.clock.advance(1_000);
    await world.send(MESSAGES.slice(2));

    expect(world.statuses()).toEqual(['SENT', 'SENT', 'SENT', 'SENT']);
  });

  it.each([
    [0, 1_000],
    [1, 3_000],
    [2, 9_000],
    [3, 27_000],
    [4, 60_000],
    [15, 60_000],
  ])('that there was no time for %i times before wait for up to a minute', async (times, longestMs) => {
    const world = createSenderWorld({ random: () => 1 });
    const key = aKey();
    const entries = Array.from({ length: times }, (_, i) =>
      anAttempt({ n: 1, lease: `old-${i}`, outcome: 'given-back', code: 'NO_TIME_LEFT' }),
    );
    world.recipients.put(key, aRecipient(pending(), { attempts: entries }));
    const claimAll = world.recipients.claimAll.bind(world.recipients);
    world.recipients.claimAll = async (...args) => {
      const results = await claimAll(...args);
      world.clock.advance(25_000);
      return results;
    };

    await world.send([aMessage()]);

    expect(world.recipients.get(key)?.recipient).toMatchObject({
      status: 'PENDING',
      nextAttemptAt: world.clock.now() + longestMs,
    });
  });
});
