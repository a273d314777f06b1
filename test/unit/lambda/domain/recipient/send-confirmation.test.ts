import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type Attempt, ATTEMPTS_KEPT } from '../../../../../lambda/domain/recipient/attempt.ts';
import type { Recipient } from '../../../../../lambda/domain/recipient/recipient.ts';
import { confirmSend, type SendConfirmation } from '../../../../../lambda/domain/recipient/send-confirmation.ts';
import { anAttempt, cancelled, exhausted, failed, pending, processing, sent, unknown } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';
import { aConfirmation } from '../../../../support/feedback-builders.ts';

const UNSENT: readonly (readonly [string, Recipient])[] = [
  ['waits to be sent again', pending({ attemptCount: 1 })],
  ['is being settled', processing()],
  ['is in the hands of another worker', processing({ lease: { token: 'theirs', until: T0 } })],
  ['was refused', failed()],
  ['ran out of attempts', exhausted()],
  ['nobody could be sure of', unknown()],
  ['was cancelled', cancelled],
  ['is in another round', pending({ round: 2, attemptCount: 0 })],
];

describe('SES’s word that it took a mail', () => {
  it.each(UNSENT)('makes a recipient SENT that %s', (_name, recipient) => {
    expect(confirmSend(recipient, [anAttempt()], aConfirmation())).toEqual({
      outcome: 'confirmed',
      next: { status: 'SENT', round: recipient.round, attemptCount: recipient.attemptCount, messageId: 'ses-1', sentAt: T0 },
      attempts: [anAttempt({ outcome: 'sent', messageId: 'ses-1' })],
    });
  });

  it('is nothing new about the mail that the row names (E2)', () => {
    expect(confirmSend(sent(), [anAttempt()], aConfirmation())).toEqual({ outcome: 'known' });
  });

  it('is nothing new about a second mail that was counted (E2)', () => {
    const attempts = [anAttempt({ lease: 'first', messageId: 'ses-1' }), anAttempt({ n: 2, messageId: 'ses-2' })];

    expect(confirmSend(sent(), attempts, aConfirmation({ n: 2, messageId: 'ses-2' }))).toEqual({ outcome: 'known' });
  });

  it('is a duplicate beside another mail, and both attempts keep their message id', () => {
    const first = anAttempt({ lease: 'first', outcome: 'unsent' });
    const second = anAttempt({ n: 2, outcome: 'sent', messageId: 'ses-2' });

    expect(confirmSend(sent({ messageId: 'ses-2' }), [first, second], aConfirmation({ lease: 'first' }))).toEqual({
      outcome: 'duplicate',
      next: sent({ messageId: 'ses-2' }),
      attempts: [{ ...first, outcome: 'sent', messageId: 'ses-1' }, second],
    });
  });

  it('brings back an attempt that was dropped for want of room, and it stays', () => {
    const others = Array.from({ length: ATTEMPTS_KEPT }, (_, i) => anAttempt({ lease: `l-${i}`, n: i + 2, outcome: 'retry' }));
    const confirmation = aConfirmation({ lease: 'dropped' });

    const confirmed = confirmSend(sent({ messageId: 'ses-9' }), others, confirmation);

    expect(confirmed).toMatchObject({ outcome: 'duplicate' });
    const attempts = confirmed.outcome === 'known' ? [] : confirmed.attempts;
    expect(attempts).toHaveLength(ATTEMPTS_KEPT);
    expect(attempts[0]).toEqual({ round: 1, n: 1, lease: 'dropped', startedAt: T0, outcome: 'sent', messageId: 'ses-1' });
    expect(confirmSend(sent({ messageId: 'ses-9' }), attempts, confirmation)).toEqual({ outcome: 'known' });
  });
});

const confirmations: fc.Arbitrary<SendConfirmation[]> = fc.array(
  fc.integer({ min: 1, max: 4 }).map((n) => aConfirmation({ n, lease: `l-${n}`, messageId: `ses-${n}`, sentAt: T0 + n })),
  { minLength: 1, maxLength: 12 },
);
const attempts: fc.Arbitrary<Attempt[]> = fc
  .array(fc.constantFrom('retry' as const, 'unclear' as const, 'given-back' as const, undefined), { maxLength: ATTEMPTS_KEPT })
  .map((outcomes) =>
    outcomes.map((outcome, i) => anAttempt({ n: i + 1, lease: `l-${i + 1}`, ...(outcome !== undefined && { outcome }) })),
  );
const recipient = fc.constantFrom(...UNSENT.map(([, state]) => state));

const confirmAll = (from: Recipient, entries: readonly Attempt[], all: readonly SendConfirmation[]) => {
  let state = { recipient: from, attempts: [...entries], duplicates: 0 };
  for (const confirmation of all) {
    const confirmed = confirmSend(state.recipient, state.attempts, confirmation);
    if (confirmed.outcome === 'known') continue;
    const { next, attempts: recorded, outcome } = confirmed;
    state = { recipient: next, attempts: recorded, duplicates: state.duplicates + (outcome === 'duplicate' ? 1 : 0) };
  }
  return state;
};

describe('any number of SES’s words about the mails of one recipient', () => {
  it('make it SENT and count each further mail once, in whatever order and however often they come', () => {
    fc.assert(
      fc.property(recipient, attempts, confirmations, (from, entries, all) => {
        const { recipient: end, attempts: recorded, duplicates } = confirmAll(from, entries, all);
        const mails = new Set(all.map(({ messageId }) => messageId));

        expect(end).toMatchObject({ status: 'SENT', messageId: all[0]?.messageId, sentAt: all[0]?.sentAt });
        expect(duplicates).toBe(mails.size - 1);
        for (const { lease, messageId } of all) {
          expect(recorded.find((attempt) => attempt.lease === lease)).toMatchObject({ outcome: 'sent', messageId });
        }
        expect(recorded.length).toBeLessThanOrEqual(ATTEMPTS_KEPT);
      }),
    );
  });

  it('say nothing new the second time', () => {
    fc.assert(
      fc.property(recipient, attempts, confirmations, (from, entries, all) => {
        const once = confirmAll(from, entries, all);
        expect(confirmAll(once.recipient, once.attempts, all)).toEqual({ ...once, duplicates: 0 });
      }),
    );
  });
});
