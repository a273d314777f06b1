import { describe, expect, it } from 'vitest';

import { one, synthesize } from './synthesized.ts';

const { dispatch } = synthesize();

describe('an alarm on what the service tells', () => {
  it.each([
    // A state, told at each pass of the sweeper: without news it is what it was.
    ['SendingPaused', 'ignore'],
    ['FeedbackSilent', 'ignore'],
    // An event: without news it did not happen again.
    ['DispatchStopped', 'notBreaching'],
    ['OutcomeUnknown', 'notBreaching'],
  ])('%s goes off at the first value and once a state, however often it is told (U18)', (metric, missing) => {
    const { Properties } = one(dispatch, 'AWS::CloudWatch::Alarm', `${metric}Alarm`);

    expect(Properties).toMatchObject({
      Namespace: 'MailDispatch',
      MetricName: metric,
      Dimensions: [{ Name: 'service', Value: 'mail-dispatch' }],
      Statistic: 'Maximum',
      ComparisonOperator: 'GreaterThanThreshold',
      Threshold: 0,
      EvaluationPeriods: 1,
      Period: 300,
      TreatMissingData: missing,
    });
  });
});
