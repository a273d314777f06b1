import { expect, it } from 'vitest';

import { possibleCopies } from '../../../../lambda/domain/possible-copies.ts';
import { anAttempt } from '../../../support/builders.ts';
import { T0 } from '../../../support/clock.ts';

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

  expect(possibleCopies(attempts)).toEqual([
    { round: 1, n: 1, startedAt: T0, reason: 'answer-lost', code: 'TIMED_OUT' },
    { round: 1, n: 3, startedAt: T0, reason: 'taken-as-unsent' },
    { round: 2, n: 2, startedAt: T0 + 5, reason: 'no-answer-recorded' },
  ]);
});
