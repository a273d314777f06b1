import { describe, expect, it } from 'vitest';

import {
  advance,
  compareWithDead,
  type Recipient,
  type RecipientEvent,
} from '../../../../../lambda/domain/recipient/recipient.ts';
import { cancelled, exhausted, failed, pending, processing, sent, unknown } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

const ours = { token: 'ours', until: T0 + 300_000 };
const message = { id: 'm-1', sentAt: T0 };

const after = (current: Recipient, event: RecipientEvent, now: number): Recipient | string => {
  const transition = advance(current, event, now);
  return transition.ok ? transition.next : transition.because;
};

describe('claiming a recipient', () => {
  const claimed: RecipientEvent = { type: 'claimed', lease: ours };

  it.each<[string, Recipient, Recipient | string]>([
    ['takes a pending one that is long due', pending({ nextAttemptAt: T0 - 1 }), processing()],
    ['takes one that is due this very millisecond', pending({ nextAttemptAt: T0 }), processing()],
    ['leaves one that is due a millisecond later', pending({ nextAttemptAt: T0 + 1 }), 'not-due'],
    [
      'counts on within the round',
      pending({ attemptCount: 3, round: 2, lastErrorCode: 'NOT_CONNECTED' }),
      processing({ attemptCount: 4, round: 2 }),
    ],
    ['leaves one whose lease is alive', processing({ lease: { token: 'theirs', until: T0 + 1 } }), 'lease-held'],
    [
      'leaves one whose lease has ended, until it is settled',
      processing({ lease: { token: 'theirs', until: T0 - 1 } }),
      'lease-held',
    ],
    ['leaves one that was sent', sent(), 'final'],
    ['leaves one that failed', failed(), 'final'],
    ['leaves one of which nobody knows', unknown(), 'final'],
    ['leaves a cancelled one', cancelled, 'final'],
  ])('%s', (_name, current, expected) => {
    expect(after(current, claimed, T0)).toEqual(expected);
  });
});

describe('while a worker has the lease', () => {
  const later = T0 + 5_000;
  const retry = { type: 'retryable', token: 'ours', code: 'NOT_CONNECTED', nextAttemptAt: later + 30_000, message } as const;

  it.each<[string, Recipient, RecipientEvent, Recipient | string]>([
    [
      'an acceptance makes it sent, with the id of SES (U3)',
      processing({ attemptCount: 2 }),
      { type: 'accepted', token: 'ours', messageId: 'ses-9' },
      sent({ attemptCount: 2, messageId: 'ses-9', sentAt: later }),
    ],
    [
      'a refusal for good makes it failed',
      processing(),
      { type: 'refused', token: 'ours', code: 'MESSAGE_REJECTED' },
      failed({ lastErrorCode: 'MESSAGE_REJECTED', failedAt: later }),
    ],
    [
      'a passing failure puts it back for later',
      processing({ attemptCount: 6 }),
      { ...retry, attemptsPerRound: 7 },
      pending({ attemptCount: 6, nextAttemptAt: later + 30_000, lastErrorCode: 'NOT_CONNECTED' }),
    ],
    [
      'the last passing failure uses the attempts up, and names the message in hand (Q4)',
      processing({ attemptCount: 7, round: 3 }),
      { ...retry, attemptsPerRound: 7 },
      exhausted({ round: 3, attemptCount: 7, failedAt: later, deadMessage: message }),
    ],
    [
      'an attempt given back does not count',
      processing({ attemptCount: 3 }),
      { type: 'given-back', token: 'ours', code: 'ACCOUNT_THROTTLED', nextAttemptAt: later + 9_000 },
      pending({ attemptCount: 2, nextAttemptAt: later + 9_000, lastErrorCode: 'ACCOUNT_THROTTLED' }),
    ],
    ['an unclear answer changes nothing', processing(), { type: 'unclear', token: 'ours' }, processing()],
    [
      'it cannot be resolved as unsent',
      processing(),
      { type: 'resolved-unsent', token: 'ours', nextAttemptAt: later },
      'lease-open',
    ],
    ['it cannot be resolved as unknown', processing(), { type: 'resolved-unknown', token: 'ours' }, 'lease-open'],
    [
      'a refusal after a lost attempt leaves open whether a mail was sent (V29)',
      processing({ attemptCount: 2 }),
      { type: 'refused', token: 'ours', code: 'MESSAGE_REJECTED', afterLost: true },
      unknown({ attemptCount: 2, lastErrorCode: 'MESSAGE_REJECTED', failedAt: later }),
    ],
    [
      'the last passing failure after a lost attempt leaves it open as well',
      processing({ attemptCount: 7 }),
      { ...retry, attemptsPerRound: 7, afterLost: true },
      unknown({ attemptCount: 7, lastErrorCode: 'ATTEMPTS_EXHAUSTED', failedAt: later }),
    ],
    [
      'a claim beyond the last attempt uses the attempts up without one more',
      processing({ attemptCount: 8 }),
      { type: 'used-up', token: 'ours', message },
      exhausted({ attemptCount: 7, failedAt: later, deadMessage: message }),
    ],
    [
      'a claim beyond the last attempt leaves it open after a lost one',
      processing({ attemptCount: 8 }),
      { type: 'used-up', token: 'ours', message, afterLost: true },
      unknown({ attemptCount: 7, lastErrorCode: 'ATTEMPTS_EXHAUSTED', failedAt: later }),
    ],
    ['a redrive is out of order', processing(), { type: 'redriven', message }, 'out-of-order'],
    ['another round is out of order', processing(), { type: 'reopened' }, 'out-of-order'],
    ['a cancellation comes too late: the mail may be on its way', processing(), { type: 'cancelled' }, 'out-of-order'],
    ['a stranger’s acceptance is ignored (L6)', processing(), { type: 'accepted', token: 'theirs', messageId: 'x' }, 'conflict'],
    ['a stranger’s refusal is ignored', processing(), { type: 'refused', token: 'theirs', code: 'x' }, 'conflict'],
    ['a stranger’s failure is ignored', processing(), { ...retry, token: 'theirs', attemptsPerRound: 7 }, 'conflict'],
    [
      'a stranger gives nothing back',
      processing(),
      { type: 'given-back', token: 'theirs', code: 'x', nextAttemptAt: later },
      'conflict',
    ],
    ['a stranger’s doubt is ignored', processing(), { type: 'unclear', token: 'theirs' }, 'conflict'],
  ])('%s', (_name, current, event, expected) => {
    expect(after(current, event, later)).toEqual(expected);
  });
});

describe('once the lease has ended', () => {
  const end = ours.until;

  it.each<[string, RecipientEvent, number, Recipient | string]>([
    [
      'it goes back to be sent again when that was decided',
      { type: 'resolved-unsent', token: 'ours', nextAttemptAt: end + 5 },
      end,
      pending({ attemptCount: 2, nextAttemptAt: end + 5, lastErrorCode: 'OUTCOME_UNCLEAR' }),
    ],
    [
      'it is left to a person when that was decided',
      { type: 'resolved-unknown', token: 'ours' },
      end,
      unknown({ attemptCount: 2, failedAt: end }),
    ],
    ['it cannot be resolved a millisecond too early', { type: 'resolved-unknown', token: 'ours' }, end - 1, 'lease-open'],
    ['nobody resolves the lease of another', { type: 'resolved-unsent', token: 'theirs', nextAttemptAt: end }, end, 'conflict'],
    ['nobody gives up on the lease of another', { type: 'resolved-unknown', token: 'theirs' }, end, 'conflict'],
    ['nobody uses up the attempts of another', { type: 'used-up', token: 'theirs', message }, end, 'conflict'],
    [
      'a late worker whose token stands may still say that SES took it',
      { type: 'accepted', token: 'ours', messageId: 'ses-9' },
      end + 60_000,
      sent({ attemptCount: 2, messageId: 'ses-9', sentAt: end + 60_000 }),
    ],
  ])('%s', (_name, event, now, expected) => {
    expect(after(processing({ attemptCount: 2 }), event, now)).toEqual(expected);
  });
});

describe('a message for a recipient that failed', () => {
  it.each<[string, Extract<Recipient, { status: 'FAILED' }>, { id: string; sentAt: number }, string]>([
    ['is a redrive when the dead one was sent anew', exhausted(), { id: 'm-1', sentAt: T0 + 1 }, 'redrive'],
    ['is the dead one itself at the same instant', exhausted(), { id: 'm-1', sentAt: T0 }, 'the-dead-one'],
    ['is no redrive when sent earlier', exhausted(), { id: 'm-1', sentAt: T0 - 1 }, 'the-dead-one'],
    ['is a stray under another id, however late', exhausted(), { id: 'm-2', sentAt: T0 + 86_400_000 }, 'stray'],
    ['is a stray when the failure was for good', failed(), { id: 'm-1', sentAt: T0 + 1 }, 'stray'],
    [
      'is a stray when a failure for good followed a reopening',
      failed({ round: 2, deadMessage: { id: 'm-1', sentAt: T0 } }),
      { id: 'm-1', sentAt: T0 + 1 },
      'stray',
    ],
  ])('%s', (_name, row, found, expected) => {
    expect(compareWithDead(row, found)).toBe(expected);
  });

  it('reopens it in a new round with all attempts ahead', () => {
    const redriven: RecipientEvent = { type: 'redriven', message: { id: 'm-1', sentAt: T0 + 1 } };

    expect(after(exhausted({ round: 2 }), redriven, T0 + 9)).toEqual(
      pending({ round: 3, nextAttemptAt: T0 + 9, lastErrorCode: 'ATTEMPTS_EXHAUSTED' }),
    );
  });

  it.each<[string, Recipient]>([
    ['one of which nobody knows', unknown()],
    ['a cancelled one', cancelled],
    ['one that was sent', sent()],
    ['one that failed for good', failed()],
  ])('never reopens %s', (_name, current) => {
    expect(advance(current, { type: 'redriven', message: { id: 'm-1', sentAt: T0 + 1 } }, T0 + 9).ok).toBe(false);
  });
});

describe('the word of SES that it took a mail', () => {
  const confirmed: RecipientEvent = { type: 'confirmed', messageId: 'ses-9', sentAt: T0 - 7 };

  it.each<[string, Recipient]>([
    ['one that waits for its next attempt', pending({ round: 2, attemptCount: 3 })],
    ['one that is under way, its lease alive', processing({ round: 2, attemptCount: 3 })],
    ['one whose worker died (L3)', processing({ round: 2, attemptCount: 3, lease: { token: 'dead', until: T0 - 1 } })],
    ['one that failed for good', failed({ round: 2, attemptCount: 3 })],
    ['one whose attempts are used up', exhausted({ round: 2, attemptCount: 3 })],
    ['one of which nobody knew (L4)', unknown({ round: 2, attemptCount: 3 })],
    ['a cancelled one', { ...cancelled, round: 2, attemptCount: 3 }],
  ])('makes %s sent, as of when SES took it', (_name, current) => {
    expect(after(current, confirmed, T0)).toEqual(sent({ round: 2, attemptCount: 3, messageId: 'ses-9', sentAt: T0 - 7 }));
  });

  it('changes nothing of one that is sent already', () => {
    expect(after(sent(), confirmed, T0)).toBe('final');
  });
});

describe('cancelling a recipient', () => {
  it.each<[string, Recipient, Recipient | string]>([
    ['takes one that is due', pending({ attemptCount: 2 }), { ...cancelled, attemptCount: 2, cancelledAt: T0 }],
    ['takes one that is not due yet', pending({ nextAttemptAt: T0 + 1 }), { ...cancelled, cancelledAt: T0 }],
    [
      'leaves one whose lease has ended, until it is settled',
      processing({ lease: { token: 'dead', until: T0 - 1 } }),
      'out-of-order',
    ],
    ['leaves one that was sent', sent(), 'final'],
    ['leaves one that failed', failed(), 'final'],
    ['leaves one of which nobody knows', unknown(), 'final'],
    ['leaves one that is cancelled', cancelled, 'final'],
  ])('%s', (_name, current, expected) => {
    expect(after(current, { type: 'cancelled' }, T0)).toEqual(expected);
  });
});

describe('reopening a recipient', () => {
  it.each<[string, Extract<Recipient, { status: 'FAILED' | 'UNKNOWN' }>]>([
    ['that failed for good', failed({ round: 2, attemptCount: 1 })],
    ['whose attempts are used up', exhausted({ round: 2 })],
    ['of which nobody knows', unknown({ round: 2, attemptCount: 3 })],
  ])('%s begins a round with all attempts ahead, and keeps what went wrong', (_name, current) => {
    expect(after(current, { type: 'reopened' }, T0 + 9)).toEqual(
      pending({ round: 3, nextAttemptAt: T0 + 9, lastErrorCode: current.lastErrorCode }),
    );
  });

  it.each<[string, Recipient, string]>([
    ['one that was sent', sent(), 'final'],
    ['a cancelled one', cancelled, 'final'],
    ['one that waits for its next attempt', pending(), 'out-of-order'],
    ['one that is under way', processing(), 'out-of-order'],
  ])('never happens to %s', (_name, current, because) => {
    expect(after(current, { type: 'reopened' }, T0)).toBe(because);
  });
});
