import { expect, it } from 'vitest';

import { faultsOfTimeOrder } from '../../lib/config/time-order.ts';
import { environmentOf, one, synthesize } from './synthesized.ts';

it.each(['local', 'dev', 'prod'])(
  'in the template of stage %s: SES timeout < function < lease < visibility (U9, B3)',
  (stage) => {
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
  },
);

it.each(['local', 'dev', 'prod'])(
  'in the template of stage %s: three deliveries of an event fit into the lease of a sender that waits for it (E5)',
  (stage) => {
    const { dispatch } = synthesize(stage);
    const lease = Number(environmentOf(dispatch, 'SendRecipients')['LEASE_SECONDS']);
    const [timeout, visibility] = [
      one(dispatch, 'AWS::Lambda::Function', 'ApplyFeedbackFunction').Properties['Timeout'],
      one(dispatch, 'AWS::SQS::Queue', 'EventsFeedbackQueue').Properties['VisibilityTimeout'],
    ] as [number, number];

    expect([timeout, visibility]).toEqual(stage === 'local' ? [3, 5] : [10, 60]);
    expect(3 * visibility).toBeLessThanOrEqual(lease);
  },
);

it('three deliveries of an event that is no longer than a lease are asked for (E5)', () => {
  const times = {
    sesTimeoutSeconds: 10,
    functionTimeoutSeconds: 30,
    leaseSeconds: 300,
    visibilitySeconds: 360,
    feedbackTimeoutSeconds: 10,
    feedbackVisibilitySeconds: 100,
    behindAfterSeconds: 45,
    watermarkMarginSeconds: 60,
  };

  expect(faultsOfTimeOrder(times, 20)).toEqual([]);
  expect(faultsOfTimeOrder({ ...times, feedbackVisibilitySeconds: 101 }, 20)).toEqual([expect.stringContaining('leaseSeconds')]);
  expect(faultsOfTimeOrder({ ...times, feedbackVisibilitySeconds: 10 }, 20)).toEqual([
    expect.stringContaining('feedbackTimeoutSeconds'),
  ]);
});

it('an event that waits for a poll does not make feedback count as behind, and one that does is noticed within the margin (V7, V28)', () => {
  const times = {
    sesTimeoutSeconds: 10,
    functionTimeoutSeconds: 30,
    leaseSeconds: 300,
    visibilitySeconds: 360,
    feedbackTimeoutSeconds: 10,
    feedbackVisibilitySeconds: 60,
    behindAfterSeconds: 21,
    watermarkMarginSeconds: 60,
  };

  expect(faultsOfTimeOrder(times, 20)).toEqual([]);
  expect(faultsOfTimeOrder({ ...times, behindAfterSeconds: 20 }, 20)).toEqual([
    expect.stringContaining('behindAfterSeconds (20)'),
  ]);
  expect(faultsOfTimeOrder({ ...times, behindAfterSeconds: 60 }, 20)).toEqual([
    expect.stringContaining('watermarkMarginSeconds (60)'),
  ]);
});
