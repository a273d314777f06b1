import { expect, it } from 'vitest';

import { copyRisk, possibleCopies } from '../../../../../lambda/domain/recipient/possible-copies.ts';
import { anAttempt, pending, processing, sent, unknown } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

it('names the attempts of any round of which no answer says whether SES took the mail, and why', () => {
  const attempts = [
    anAttempt({ n: 1, outcome: 'unclear', code: 'TIMED_OUT' }),
    anAttempt({ n: 2, outcome: 'retry', code: 'NOT_CONNECTED' }),
    anAttempt({ n: 3, outcome: 'unsent' }),
    anAttempt({ round: 2, n: 1, outcome: 'given-back' }),
    anAttempt({ round: 2, n: 1, outcome: 'failed' }),
    anAttempt({ round: 2, n: 2, startedAt: T0 + 5 }),
    anAttempt({ round: 2, n: 3, outcome: 'sent', messageId: 'ses-1' }),
  ];

  expect(possibleCopies(unknown(), attempts)).toEqual([
    { round: 1, n: 1, startedAt: T0, reason: 'answer-lost', code: 'TIMED_OUT' },
    { round: 1, n: 3, startedAt: T0, reason: 'taken-as-unsent' },
    { round: 2, n: 2, startedAt: T0 + 5, reason: 'no-answer-recorded' },
  ]);
});

it('leaves out the attempt that is still under way, and no other', () => {
  const recipient = processing({ lease: { token: 'ours', until: T0 } });
  const of = (...attempts: Parameters<typeof anAttempt>[0][]) =>
    possibleCopies(recipient, attempts.map(anAttempt)).map(({ n }) => n);

  expect(of({ n: 1, lease: 'earlier' }, { n: 2, lease: 'ours' })).toEqual([1]);
  expect(of({ n: 2, lease: 'ours', outcome: 'unclear' })).toEqual([2]);
});

it('tells a copy beside a mail that SES took from one that may be the only mail', () => {
  const { status, round, attemptCount, sentAt } = sent();

  expect(copyRisk(sent())).toBe('another-copy-sent');
  expect(copyRisk({ status, round, attemptCount, sentAt })).toBe('no-copy-follows');
  expect(copyRisk(pending())).toBe('another-copy-follows');
});
