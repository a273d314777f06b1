import { expect, it } from 'vitest';

import { environmentOf, one, synthesize } from './synthesized.ts';

it.each(['local', 'dev', 'prod'])('in the template of stage %s: SES timeout < function < lease < visibility', (stage) => {
  const { dispatch } = synthesize(stage);
  const { SES_TIMEOUT_SECONDS, LEASE_SECONDS } = environmentOf(dispatch, 'SendRecipients');
  const times = [
    Number(SES_TIMEOUT_SECONDS),
    one(dispatch, 'AWS::Lambda::Function', 'SendRecipientsFunction').Properties['Timeout'],
    Number(LEASE_SECONDS),
    one(dispatch, 'AWS::SQS::Queue', 'SendsQueue').Properties['VisibilityTimeout'],
  ] as number[];

  expect(times).toEqual(stage === 'local' ? [3, 10, 15, 20] : [10, 30, 300, 360]);
  expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
});
