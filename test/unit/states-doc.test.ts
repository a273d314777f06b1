import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import {
  advance,
  ATTEMPTS_EXHAUSTED,
  type Recipient,
  RECIPIENT_STATUSES,
  type RecipientEvent,
} from '../../lambda/domain/recipient/recipient.ts';

const NOW = 1_000_000;
const tries = { round: 1, attemptCount: 1 };
const dead = { id: 'dead', sentAt: NOW - 10 };

const states: Record<string, (event: string) => Recipient> = {
  PENDING: (event) => ({ ...tries, status: 'PENDING', nextAttemptAt: event.includes('before') ? NOW + 1 : NOW }),
  PROCESSING: (event) => ({
    ...tries,
    status: 'PROCESSING',
    lease: { token: 'ours', until: event.includes('lease over') ? NOW : NOW + 1 },
  }),
  SENT: () => ({ ...tries, status: 'SENT', messageId: 'm', sentAt: NOW }),
  FAILED: () => ({ ...tries, status: 'FAILED', lastErrorCode: ATTEMPTS_EXHAUSTED, failedAt: NOW, deadMessage: dead }),
  UNKNOWN: () => ({ ...tries, status: 'UNKNOWN', lastErrorCode: 'OUTCOME_UNCLEAR', failedAt: NOW }),
  CANCELLED: () => ({ ...tries, status: 'CANCELLED', cancelledAt: NOW }),
};

const token = 'ours';
const retryable = { type: 'retryable', token, code: 'C', nextAttemptAt: NOW + 5, message: dead } as const;
/** The event of each row, or several that do the same. */
const events: Record<string, RecipientEvent | readonly RecipientEvent[]> = {
  'claimed, when due': { type: 'claimed', lease: { token, until: NOW + 9 } },
  'claimed, before it is due': { type: 'claimed', lease: { token, until: NOW + 9 } },
  accepted: { type: 'accepted', token, messageId: 'm' },
  refused: { type: 'refused', token, code: 'C' },
  'refused, after a lost attempt of the round': { type: 'refused', token, code: 'C', afterLost: true },
  'retryable, attempts left': { ...retryable, attemptsPerRound: 2 },
  'retryable, attempts used up': { ...retryable, attemptsPerRound: 1 },
  'retryable, attempts used up after a lost one': { ...retryable, attemptsPerRound: 1, afterLost: true },
  'given-back': { type: 'given-back', token, code: 'C', nextAttemptAt: NOW },
  unclear: { type: 'unclear', token },
  'used-up': { type: 'used-up', token, message: dead },
  'resolved-unsent, lease over': { type: 'resolved-unsent', token, nextAttemptAt: NOW },
  'resolved-unknown, lease over': { type: 'resolved-unknown', token },
  'resolved, lease running': [
    { type: 'resolved-unsent', token, nextAttemptAt: NOW },
    { type: 'resolved-unknown', token },
  ],
  'confirmed by SES': { type: 'confirmed', messageId: 'm-2', sentAt: NOW - 1 },
  cancelled: { type: 'cancelled' },
  'redriven, by the dead message': { type: 'redriven', message: { id: 'dead', sentAt: NOW } },
  'reopened by a person': { type: 'reopened' },
  'settled by a person: sent': { type: 'settled-by-hand', as: 'sent' },
  'settled by a person: failed': { type: 'settled-by-hand', as: 'failed' },
};

const rows = readFileSync(join(import.meta.dirname, '../../docs/states.md'), 'utf8')
  .split('\n## ')[0]
  ?.split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const [header = [], , ...body] = rows ?? [];

describe('the table of states in the documents', () => {
  it('has a column for each state', () => {
    expect(header.slice(1)).toEqual([...RECIPIENT_STATUSES]);
  });

  it('has a row for each kind of event', () => {
    const kinds: Record<RecipientEvent['type'], true> = {
      claimed: true,
      accepted: true,
      refused: true,
      retryable: true,
      'given-back': true,
      unclear: true,
      'used-up': true,
      'resolved-unsent': true,
      'resolved-unknown': true,
      confirmed: true,
      cancelled: true,
      redriven: true,
      reopened: true,
      'settled-by-hand': true,
    };

    expect(body.map(([event]) => event)).toEqual(Object.keys(events));
    expect(
      new Set(
        Object.values(events)
          .flat()
          .map(({ type }) => type),
      ),
    ).toEqual(new Set(Object.keys(kinds)));
  });

  it.each(body.flatMap(([event = '', ...cells]) => cells.map((cell, i) => [event, header[i + 1] ?? '', cell] as const)))(
    'says of "%s" in %s what the domain does',
    (event, status, expected) => {
      const state = states[status]?.(event);
      const happened = [events[event] ?? []].flat();
      if (!state || happened.length === 0) throw new Error('no such state or event');

      const results = happened.map((each) => advance(state, each, NOW));

      expect(new Set(results.map((result) => (result.ok ? result.next.status : '–')))).toEqual(new Set([expected]));
    },
  );
});
