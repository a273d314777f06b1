import { describe, expect, it } from 'vitest';

import {
  DispatchView,
  RecipientView,
  toDispatchView,
  toRecipientView,
} from '../../../../../../lambda/contracts/http/response/dispatch-view.ts';
import type { Dispatch } from '../../../../../../lambda/domain/dispatch/dispatch.ts';
import type { Recipient } from '../../../../../../lambda/domain/recipient/recipient.ts';
import {
  aDispatch,
  anAttempt,
  aRecipient,
  cancelled,
  exhausted,
  failed,
  pending,
  processing,
  sent,
  unknown,
} from '../../../../../support/builders.ts';
import { T0 } from '../../../../../support/clock.ts';

const AT = '2026-03-02T09:00:00.000Z';
const common = { applyId: 'a-1', email: 'kim@example.com', round: 1, attempts: [], events: [] };

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
    [
      'UNKNOWN with its error and a warning',
      unknown(),
      {
        attemptCount: 1,
        lastErrorCode: 'OUTCOME_UNCLEAR',
        failedAt: AT,
        possibleCopies: { warning: 'These attempts may have sent the email. A retry may send another copy.', attempts: [] },
      },
    ],
    ['CANCELLED and when', cancelled, { attemptCount: 0, cancelledAt: AT }],
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

  it.each<[string, Recipient, string]>([
    ['UNKNOWN', unknown(), 'These attempts may have sent the email. A retry may send another copy.'],
    ['FAILED', failed(), 'These attempts may have sent the email. A retry may send another copy.'],
    ['PENDING', pending(), 'These attempts may have sent the email. A retry may send another copy.'],
    ['SENT', sent(), 'These attempts may have sent another copy of the email.'],
    ['CANCELLED', cancelled, 'These attempts may have sent the email.'],
  ])('%s with the attempts that may have sent the email', (_status, recipient, warning) => {
    const attempts = [
      anAttempt({ outcome: 'unclear', code: 'TIMED_OUT' }),
      anAttempt({ n: 2, outcome: 'retry' }),
      anAttempt({ n: 3 }),
      anAttempt({ n: 4, outcome: 'unsent', code: 'SERVICE_UNAVAILABLE', answered: true }),
    ];
    const view = toRecipientView(aRecipient(recipient, { attempts }));

    expect(view.possibleCopies).toEqual({
      warning,
      attempts: [
        { round: 1, n: 1, startedAt: AT, reason: 'answer-lost', code: 'TIMED_OUT' },
        { round: 1, n: 3, startedAt: AT, reason: 'no-answer-recorded' },
        { round: 1, n: 4, startedAt: AT, reason: 'taken-as-unsent', code: 'SERVICE_UNAVAILABLE' },
      ],
    });
    expect(RecipientView.safeParse(view).success).toBe(true);
  });

  it('without possible copies when SES answered every attempt', () => {
    const attempts = [anAttempt({ outcome: 'retry' }), anAttempt({ n: 2, outcome: 'failed' })];

    expect(toRecipientView(aRecipient(failed(), { attempts }))).not.toHaveProperty('possibleCopies');
  });

  it('with how far the mail got', () => {
    expect(toRecipientView(aRecipient(sent(), { delivery: 'bounced' })).delivery).toBe('bounced');
  });

  it('with the events of its mails, in words of ours and of SES', () => {
    const view = toRecipientView(
      aRecipient(sent(), {
        events: [
          { kind: 'send', messageId: 'ses-1', at: T0 },
          { kind: 'bounce', messageId: 'ses-1', at: T0 + 1, detail: 'Permanent/OnAccountSuppressionList', suppressed: true },
        ],
      }),
    );

    expect(view.events).toEqual([
      { kind: 'send', messageId: 'ses-1', at: AT },
      { kind: 'bounce', messageId: 'ses-1', at: '2026-03-02T09:00:00.001Z', detail: 'Permanent/OnAccountSuppressionList' },
    ]);
    expect(RecipientView.safeParse(view).success).toBe(true);
  });
});

describe('a dispatch is shown', () => {
  const stop = { failureReason: 'permanent-failures', faultCode: 'BAD_REQUEST', faultSince: T0, stoppedAt: T0 } as const;

  it.each<[string, Partial<Dispatch>, object]>([
    [
      'STOPPED with why and when',
      { status: 'STOPPED', ...stop },
      { failureReason: 'permanent-failures', faultCode: 'BAD_REQUEST', stoppedAt: AT },
    ],
    ['STOPPED as stale', { status: 'STOPPED', failureReason: 'stale', stoppedAt: T0 }, { failureReason: 'stale', stoppedAt: AT }],
    ['IN_PROGRESS without what stopped it before', { status: 'IN_PROGRESS', ...stop }, {}],
    ['CANCELLED with when', { status: 'CANCELLED', cancelledAt: T0 }, { cancelledAt: AT }],
    [
      'COMPLETED with whether a person should look',
      { status: 'COMPLETED', outcome: 'partly-sent', needsAttention: true, completedAt: T0 },
      { outcome: 'partly-sent', needsAttention: true, completedAt: AT },
    ],
  ])('%s', (_name, dispatch, expected) => {
    const view = toDispatchView(aDispatch(dispatch));

    expect(view).toEqual({
      id: 'd1spatch',
      status: dispatch.status,
      total: 3,
      scenarioId: 'interview',
      recruitId: 'r-1',
      adminId: 'admin-1',
      isTest: false,
      createdAt: AT,
      links: { self: '/dispatches/d1spatch', recipients: '/dispatches/d1spatch/recipients' },
      ...expected,
    });
    expect(DispatchView.safeParse(view).success).toBe(true);
  });
});
