import { describe, expect, it } from 'vitest';

import { createSettleRecipient } from '../../../../../lambda/application/commands/settle-recipient.ts';
import { changeBy } from '../../../../../lambda/application/feedback/apply-event.ts';
import { Unavailable } from '../../../../../lambda/application/ports/errors.ts';
import type { Recipient } from '../../../../../lambda/domain/recipient/recipient.ts';
import {
  aDispatch,
  aKey,
  anAttempt,
  aRecipient,
  DISPATCH_ID,
  pending,
  processing,
  sent,
  unknown,
} from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';
import { createFakeRecipients } from '../../../../support/fakes.ts';

const OWNER = { adminId: 'admin-1', isOperator: false };
const NOTE = 'the applicant answered it';

const world = (recipient: Recipient = unknown()) => {
  const row = aRecipient(recipient, { attempts: [anAttempt({ outcome: 'unclear' })] });
  const recipients = createFakeRecipients([[aKey(), row]]);
  const settle = createSettleRecipient({
    dispatches: { find: (id) => Promise.resolve(id === DISPATCH_ID ? { dispatch: aDispatch(), tasks: 0 } : undefined) },
    recipients,
    clock: () => T0 + 9,
  });
  const say = (as: 'sent' | 'failed', person = OWNER, applyIds = ['a-1']) =>
    settle(person, DISPATCH_ID, applyIds, { as, note: NOTE });
  return { say, settle, recipients, row: () => recipients.get(aKey()) };
};

describe('a recipient of whom nobody knows', () => {
  it.each([
    ['sent', { status: 'SENT', round: 1, attemptCount: 1, sentAt: T0 + 9 }],
    ['failed', { status: 'FAILED', round: 1, attemptCount: 1, lastErrorCode: 'SETTLED_BY_OPERATOR', failedAt: T0 + 9 }],
  ] as const)('is settled as %s, with who said so, when and why', async (as, expected) => {
    const { say, row } = world();

    expect(await say(as)).toMatchObject({ outcome: 'settled', isNew: true, row: { recipient: expected } });
    expect(row()).toMatchObject({ recipient: expected, settled: { as, who: 'admin-1', at: T0 + 9, note: NOTE } });
  });

  it('is settled once: said again it stays, and the contrary is refused', async () => {
    const { say, row } = world();
    await say('sent');
    const before = row();

    expect(await say('sent')).toMatchObject({ outcome: 'settled', isNew: false });
    expect(await say('failed')).toEqual({ outcome: 'not-unknown', status: 'SENT' });
    expect(row()).toEqual(before);
  });

  it('and of whom SES tells afterwards that it took the mail got it once: no duplicate', async () => {
    const { say, row } = world();
    await say('sent');
    const settled = row();
    const event = {
      kind: 'event',
      origin: { key: aKey(), round: 1, n: 1, lease: 'ours' },
      event: { kind: 'send', messageId: 'ses-9', at: T0 + 2 },
      sentAt: T0 + 2,
    } as const;

    const change = settled && changeBy(settled, event);

    expect(change?.signals.map(({ type }) => type)).toEqual(['send', 'late']);
    expect(change?.patch?.recipient).toMatchObject({ status: 'SENT', messageId: 'ses-9', sentAt: T0 + 2 });
  });
});

describe('a recipient that cannot be settled', () => {
  it.each([pending(), processing(), sent()])('is one that is $status', async (recipient) => {
    const { say, row } = world(recipient);

    expect(await say('failed')).toEqual({ outcome: 'not-unknown', status: recipient.status });
    expect(row()?.recipient).toEqual(recipient);
  });

  it('is one that is not there', async () => {
    expect(await world().say('sent', OWNER, ['b', 'c'])).toEqual({ outcome: 'no-recipient' });
  });

  it('is another admin’s (A5), unless an operator asks', async () => {
    const { say, row } = world();

    expect(await say('sent', { adminId: 'admin-2', isOperator: false })).toEqual({ outcome: 'not-found' });
    expect(row()?.recipient.status).toBe('UNKNOWN');
    expect(await say('sent', { adminId: 'op', isOperator: true })).toMatchObject({ outcome: 'settled' });
  });

  it('is to be asked about again when the table does not answer', async () => {
    const { say, recipients } = world();
    recipients.outage = () => true;

    await expect(say('sent')).rejects.toThrow(Unavailable);
  });
});
