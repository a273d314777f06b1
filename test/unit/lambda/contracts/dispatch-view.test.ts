import { describe, expect, it } from 'vitest';

import { RecipientView, toRecipientView } from '../../../../lambda/contracts/dispatch-view.ts';
import type { Recipient } from '../../../../lambda/domain/recipient.ts';
import {
  anAttempt,
  aRecipient,
  cancelled,
  exhausted,
  failed,
  pending,
  processing,
  sent,
  unknown,
} from '../../../support/builders.ts';
import { T0 } from '../../../support/clock.ts';

const AT = '2026-03-02T09:00:00.000Z';
const common = { applyId: 'a-1', email: 'kim@example.com', round: 1, attempts: [] };

describe('a recipient is shown', () => {
  it.each<[string, Recipient, object]>([
    ['PENDING with its next attempt', pending(), { attemptCount: 0, nextAttemptAt: AT }],
    [
      'PENDING with its last error',
      pending({ attemptCount: 2, lastErrorCode: 'NOT_CONNECTED' }),
      { attemptCount: 2, nextAttemptAt: AT, lastErrorCode: 'NOT_CONNECTED' },
    ],
    ['SENT with the message id', sent(), { attemptCount: 1, messageId: 'ses-1', sentAt: AT, delivery: 'none' }],
    ['FAILED with its error', failed(), { attemptCount: 1, lastErrorCode: 'MESSAGE_REJECTED', failedAt: AT }],
    ['FAILED without its dead message', exhausted(), { attemptCount: 7, lastErrorCode: 'ATTEMPTS_EXHAUSTED', failedAt: AT }],
    ['UNKNOWN with its error', unknown(), { attemptCount: 1, lastErrorCode: 'OUTCOME_UNCLEAR', failedAt: AT }],
    ['CANCELLED', cancelled, { attemptCount: 0 }],
  ])('%s', (_name, recipient, expected) => {
    const view = toRecipientView(aRecipient(recipient));

    expect(view).toEqual({ ...common, status: recipient.status, ...expected });
    expect(RecipientView.safeParse(view).success).toBe(true);
  });

  it('with its attempts and without their lease tokens', () => {
    const attempts = [anAttempt({ outcome: 'retry', code: 'NOT_CONNECTED', ms: 12 }), anAttempt({ n: 2, startedAt: T0 + 1 })];

    expect(toRecipientView(aRecipient(processing(), { attempts })).attempts).toEqual([
      { round: 1, n: 1, startedAt: AT, outcome: 'retry', code: 'NOT_CONNECTED', ms: 12 },
      { round: 1, n: 2, startedAt: '2026-03-02T09:00:00.001Z' },
    ]);
  });

  it('with how far the mail got', () => {
    expect(toRecipientView({ ...aRecipient(sent()), delivery: 'bounced' }).delivery).toBe('bounced');
  });
});
