import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import {
  advance,
  ATTEMPTS_EXHAUSTED,
  type Recipient,
  RECIPIENT_STATUSES,
  type RecipientEvent,
} from '../../lambda/domain/recipient.ts';

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
  CANCELLED: () => ({ ...tries, status: 'CANCELLED' }),
};

const token = 'ours';
const retryable = { type: 'retryable', token, code: 'C', nextAttemptAt: NOW + 5, message: dead } as const;
const events: Record<string, RecipientEvent> = {
  'claimed, when due': { type: 'claimed', lease: { token, until: NOW + 9 } },
  'claimed, before it is due': { type: 'claimed', lease: { token, until: NOW + 9 } },
  accepted: { type: 'accepted', token, messageId: 'm' },
  refused: { type: 'refused', token, code: 'C' },
  'retryable, attempts left': { ...retryable, attemptsPerRound: 2 },
  'retryable, attempts used up': { ...retryable, attemptsPerRound: 1 },
  'given-back': { type: 'given-back', token, code: 'C', nextAttemptAt: NOW },
  unclear: { type: 'unclear', token },
  'settled-unsent, lease over': { type: 'settled-unsent', token },
  'settled-unknown, lease over': { type: 'settled-unknown', token },
  'redriven, by the dead message': { type: 'redriven', message: { id: 'dead', sentAt: NOW } },
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
    expect(body.map(([event]) => event)).toEqual(Object.keys(events));
  });

  it.each(body.flatMap(([event = '', ...cells]) => cells.map((cell, i) => [event, header[i + 1] ?? '', cell] as const)))(
    'says of "%s" in %s what the domain does',
    (event, status, expected) => {
      const state = states[status]?.(event);
      const happened = events[event];
      if (!state || !happened) throw new Error('no such state or event');

      const result = advance(state, happened, NOW);

      expect(result.ok ? result.next.status : '–').toBe(expected);
    },
  );
});
