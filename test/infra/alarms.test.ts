import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { describe, expect, it } from 'vitest';

import { RUNBOOK_SECTIONS, SECTIONS_WITHOUT_ALARM } from '../../lib/monitoring/runbook.ts';
import { all, one, plain, ROOT, synthesize } from './synthesized.ts';

const { dispatch, watch } = synthesize('prod', { alarmEmail: 'duty@example.org' });

const alarm = (id: string) => one(watch, 'AWS::CloudWatch::Alarm', `Alarms${id}`).Properties;
const alarms = all(watch, 'AWS::CloudWatch::Alarm').map(({ Properties }) => Properties);
const composites = all(watch, 'AWS::CloudWatch::CompositeAlarm').map(({ Properties }) => Properties);
/** Logical ids of other stacks end in a hash. */
const dimensions = (properties: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    ((properties['Dimensions'] ?? []) as { Name: string; Value: unknown }[]).map(({ Name, Value }) => [
      Name,
      plain(Value).replace(/[0-9A-F]{8}(QueueName)?([0-9A-F]{8})?$/, ''),
    ]),
  );

const OWN = {
  Namespace: 'MailDispatch',
  Dimensions: [
    { Name: 'Stage', Value: 'prod' },
    { Name: 'service', Value: 'mail-dispatch' },
  ],
};
const ABOVE = 'GreaterThanThreshold';

describe('an alarm on what the service tells', () => {
  it.each([
    // A state, told at each pass of the sweeper: without news it is what it was.
    ['SendingPaused', 'ignore'],
    ['FeedbackSilent', 'ignore'],
    ['BatchOverdue', 'ignore'],
    ['AccountOutdated', 'ignore'],
    // An event: without news it did not happen again.
    ['DispatchStopped', 'notBreaching'],
    ['AccountTrouble', 'notBreaching'],
    ['CanaryUnusable', 'notBreaching'],
    ['CredentialsRefused', 'notBreaching'],
    ['OutcomeUnknown', 'notBreaching'],
    ['CanaryRefused', 'notBreaching'],
    ['UnclearUnreadable', 'notBreaching'],
    ['DuplicateSent', 'notBreaching'],
    ['MailRejected', 'notBreaching'],
    ['MailNotRendered', 'notBreaching'],
    ['FeedbackEnveloped', 'notBreaching'],
    ['OutboxRecordMalformed', 'notBreaching'],
    ['ProgressRecordMalformed', 'notBreaching'],
    ['RecipientBroken', 'notBreaching'],
    ['DispatchUnreadable', 'notBreaching'],
  ])('%s goes off at the first value and once a state, however often it is told (U18)', (metric, missing) => {
    expect(alarm(metric)).toMatchObject({
      ...OWN,
      MetricName: metric,
      Statistic: 'Maximum',
      ComparisonOperator: ABOVE,
      Threshold: 0,
      EvaluationPeriods: 1,
      Period: 300,
      TreatMissingData: missing,
    });
  });

  it('misses the heartbeat of recovery within 15 minutes, and takes silence for its end', () => {
    expect(alarm('SweepSilent')).toMatchObject({
      ...OWN,
      MetricName: 'SweepProgressed',
      Statistic: 'Sum',
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      Period: 900,
      EvaluationPeriods: 1,
      TreatMissingData: 'breaching',
    });
  });

  it('misses a complete round of recovery within six hours, long before senders stop for it', () => {
    expect(alarm('SweepRoundsSlow')).toMatchObject({
      ...OWN,
      MetricName: 'SweepFinished',
      Statistic: 'Sum',
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      Period: 21_600,
      EvaluationPeriods: 1,
      TreatMissingData: 'breaching',
    });
  });

  it('misses the heartbeat of the walk over unclear attempts within 15 minutes, and takes silence for its end', () => {
    expect(alarm('UnclearSilent')).toMatchObject({
      ...OWN,
      MetricName: 'UnclearWalkFinished',
      Statistic: 'Sum',
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      Period: 900,
      EvaluationPeriods: 1,
      TreatMissingData: 'breaching',
    });
  });

  it('goes off when unclear attempts cannot be resolved for 15 minutes', () => {
    expect(alarm('UnclearNotResolved')).toMatchObject({
      ...OWN,
      MetricName: 'UnclearNotResolved',
      Statistic: 'Sum',
      ComparisonOperator: ABOVE,
      Threshold: 0,
      Period: 300,
      DatapointsToAlarm: 3,
      EvaluationPeriods: 3,
      TreatMissingData: 'notBreaching',
    });
  });

  it.each([
    [{}, 3_600, 1_800],
    [{ lateSeconds: 600, revisitSeconds: 100 }, 600, 300],
    // Two looks at the same dispatch are further apart than a period may be.
    [{ revisitSeconds: 86_400 }, 3_600, 86_400],
  ])('with %j calls mails late after %d s, seen over %d s', (given, Threshold, Period) => {
    const { watch: own } = synthesize('prod', given);

    expect(one(own, 'AWS::CloudWatch::Alarm', 'AlarmsMailsOverdue').Properties).toMatchObject({
      ...OWN,
      MetricName: 'OldestPendingSeconds',
      Statistic: 'Maximum',
      Threshold,
      Period,
      TreatMissingData: 'ignore',
    });
    expect(one(own, 'AWS::CloudWatch::Alarm', 'AlarmsSendQueueOld').Properties).toMatchObject({ Threshold });
  });

  it.each([
    ['RelaySilent', 'RecipientReEnqueued', 3, 4],
    ['RecoveryFails', 'SweepRecoveryFailed', 2, 2],
  ])('%s goes off when it happens in %s quarters of an hour', (id, MetricName, DatapointsToAlarm, EvaluationPeriods) => {
    expect(alarm(id)).toMatchObject({
      ...OWN,
      MetricName,
      Statistic: 'Sum',
      Period: 900,
      Threshold: 0,
      DatapointsToAlarm,
      EvaluationPeriods,
      TreatMissingData: 'notBreaching',
    });
  });

  it('warns at four fifths of the quota', () => {
    expect(alarm('QuotaNearlyUsed')).toMatchObject({ ...OWN, MetricName: 'QuotaUsedShare', Threshold: 0.8 });
  });
});

describe('an alarm on a queue', () => {
  it.each(['Send', 'Task', 'Feedback'])('goes off for the first dead letter of the %s queue that is visible (Q6)', (name) => {
    const found = alarm(`${name}DeadLetters`);

    expect(dimensions(found)['QueueName']).toMatch(new RegExp(`${name}s?DeadLetters$`));
    expect(found).toMatchObject({
      // "Sent" would not see what SQS moves by itself.
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Statistic: 'Maximum',
      Threshold: 0,
      ComparisonOperator: ABOVE,
      EvaluationPeriods: 1,
      TreatMissingData: 'notBreaching',
    });
  });

  it('watches the dead letters of every queue that has some', () => {
    const withDeadLetters = all(dispatch, 'AWS::SQS::Queue').filter(({ Properties }) => 'RedrivePolicy' in Properties);
    const monitored = alarms.filter(({ MetricName }) => MetricName === 'ApproximateNumberOfMessagesVisible');

    expect(monitored).toHaveLength(withDeadLetters.length);
  });

  it.each([
    ['SendQueueOld', 'ApproximateAgeOfOldestMessage', 3_600, 15],
    ['SendQueueFull', 'ApproximateNumberOfMessagesNotVisible', 90_000, 5],
    ['FeedbackQueueOld', 'ApproximateAgeOfOldestMessage', 300, 5],
  ])('%s goes off when %s stays above %d for %d minutes', (id, MetricName, Threshold, EvaluationPeriods) => {
    expect(alarm(id)).toMatchObject({
      Namespace: 'AWS/SQS',
      MetricName,
      Statistic: 'Maximum',
      Period: 60,
      Threshold,
      EvaluationPeriods,
      DatapointsToAlarm: EvaluationPeriods,
      TreatMissingData: 'notBreaching',
    });
  });
});

describe('an alarm on the platform', () => {
  it.each(['SendRecipients', 'RelayOutbox', 'FollowProgress', 'RunTask', 'ApplyFeedback', 'Sweep'])(
    'goes off when %s fails in three minutes of five',
    (name) => {
      const found = alarm(`${name}Errors`);

      expect(dimensions(found)['FunctionName']).toMatch(new RegExp(`${name}Function$`));
      expect(found).toMatchObject({
        MetricName: 'Errors',
        Statistic: 'Sum',
        Threshold: 0,
        DatapointsToAlarm: 3,
        EvaluationPeriods: 5,
      });
    },
  );

  it.each([
    ['SenderThrottled', { MetricName: 'Throttles', Statistic: 'Sum', Threshold: 0, EvaluationPeriods: 5 }],
    ['SenderSlow', { MetricName: 'Duration', ExtendedStatistic: 'p99', Threshold: 24_000, EvaluationPeriods: 3 }],
    ['RelayOutboxLate', { MetricName: 'IteratorAge', Statistic: 'Maximum', Threshold: 300_000, DatapointsToAlarm: 3 }],
    ['RelayOutboxGaveUp', { MetricName: 'OnFailureDestinationDeliveredEventCount', Threshold: 0, EvaluationPeriods: 1 }],
    ['FollowProgressLate', { MetricName: 'IteratorAge', Statistic: 'Maximum', Threshold: 300_000, DatapointsToAlarm: 3 }],
    ['RelayOutboxLost', { MetricName: 'DroppedEventCount', Statistic: 'Sum', Threshold: 0, EvaluationPeriods: 1 }],
    ['FollowProgressLost', { MetricName: 'DroppedEventCount', Statistic: 'Sum', Threshold: 0, EvaluationPeriods: 1 }],
    ['FollowProgressGaveUp', { MetricName: 'OnFailureDestinationDeliveredEventCount', Threshold: 0, EvaluationPeriods: 1 }],
    ['TableWritesThrottled', { MetricName: 'WriteThrottleEvents', Threshold: 0, DatapointsToAlarm: 3 }],
    ['TableReadsThrottled', { MetricName: 'ReadThrottleEvents', Threshold: 0, DatapointsToAlarm: 3 }],
    ['ApiErrors', { MetricName: '5xx', Statistic: 'Sum', Threshold: 0, DatapointsToAlarm: 2, EvaluationPeriods: 3 }],
    ['ApiSlow', { MetricName: 'Latency', ExtendedStatistic: 'p99', Threshold: 15_000 }],
  ])('%s is as AWS advises', (id, expected) => {
    expect(alarm(id)).toMatchObject({ ...expected, ComparisonOperator: ABOVE, TreatMissingData: 'notBreaching' });
  });

  it.each([
    ['AdminIndexThrottled', 'by-admin'],
    ['OpenIndexThrottled', 'open'],
  ])('%s sees throttles that are told under the index alone', (id, index) => {
    expect(dimensions(alarm(id))).toMatchObject({ GlobalSecondaryIndexName: index });
  });
});

describe('an alarm on records that a stream mapping gave up', () => {
  it.each([
    ['RelayOutbox', 'Outbox'],
    ['FollowProgress', 'Progress'],
  ])('of %s reads the counts of its own mapping, which are turned on', (name, mapping) => {
    const { id, Properties } = one(dispatch, 'AWS::Lambda::EventSourceMapping', mapping);

    expect(Properties['MetricsConfig']).toEqual({ Metrics: ['EventCount'] });
    for (const what of ['Lost', 'GaveUp']) {
      const read = alarm(`${name}${what}`)['Dimensions'] as { Name: string; Value: unknown }[];
      expect(read.map(({ Name, Value }) => [Name, plain(Value).startsWith(id)])).toEqual([['EventSourceMappingUUID', true]]);
    }
  });
});

describe('an alarm on the account’s executions', () => {
  it('goes off when four fifths of the quota are used for five minutes', () => {
    const found = alarm('ConcurrencyNearlyUsed');

    expect(found).toMatchObject({ Threshold: 0.8, ComparisonOperator: ABOVE, EvaluationPeriods: 5, DatapointsToAlarm: 5 });
    expect(found['Metrics']).toMatchObject([
      { Expression: 'used / SERVICE_QUOTA(used)' },
      {
        Id: 'used',
        ReturnData: false,
        MetricStat: { Metric: { Namespace: 'AWS/Usage', MetricName: 'ResourceCount' }, Stat: 'Maximum' },
      },
    ]);
  });
});

describe('an alarm on the account’s reputation', () => {
  it.each([
    ['BouncesHigh', 'Reputation.BounceRate', 0.05],
    ['BouncesCritical', 'Reputation.BounceRate', 0.08],
    ['ComplaintsHigh', 'Reputation.ComplaintRate', 0.001],
    ['ComplaintsCritical', 'Reputation.ComplaintRate', 0.004],
  ])('%s goes off when %s is above %d, and stays until there is news', (id, MetricName, Threshold) => {
    expect(alarm(id)).toMatchObject({ Namespace: 'AWS/SES', MetricName, Threshold, TreatMissingData: 'ignore' });
  });
});

describe('the alarms', () => {
  const descriptions = [...alarms, ...composites].map((properties) => String(properties['AlarmDescription']));

  it('say what it means for people, and where to read what to do', () => {
    for (const text of descriptions) expect(text).toMatch(/^[A-Z][^.]{20,}\. Runbook: docs\/runbook\.md#[a-z-]+$/);
  });

  const runbook = readFileSync(resolve(ROOT, 'docs/runbook.md'), 'utf8');

  it('and the headings of the runbook are the same list', () => {
    const headings = [...runbook.matchAll(/^## (.+)$/gm)].map(([, title = '']) => title.toLowerCase().replaceAll(' ', '-'));

    const others = new Set<string>(SECTIONS_WITHOUT_ALARM);
    expect(headings.filter((heading) => !others.has(heading))).toEqual([...RUNBOOK_SECTIONS]);
    expect(headings.filter((heading) => others.has(heading))).toEqual([...others]);
    expect(new Set(descriptions.map((text) => text.split('#')[1]))).toEqual(new Set(RUNBOOK_SECTIONS));
  });

  it('lead to sections that say what it means, how to look, what to do, and when it is over', () => {
    const [, ...sections] = runbook.split(/^## /m);
    for (const section of sections)
      expect([...section.matchAll(/^\*\*(\w[^.*]*)\.?\*\*/gm)].map(([, part]) => part)).toEqual([
        'What it means',
        'Look',
        'Do',
        'Over when',
      ]);
  });

  it('each tell one topic when they go off and when they are over', () => {
    for (const { AlarmActions, OKActions } of alarms) {
      expect([AlarmActions, OKActions].map((actions) => plain((actions as unknown[])[0]).slice(0, 10))).toEqual([
        'NoticesAll',
        'NoticesAll',
      ]);
    }
  });

  it('page once for all those that cannot wait until the morning', () => {
    const [page, ...others] = composites;
    const rule = plain(page?.['AlarmRule']);

    expect(others).toEqual([]);
    expect([...rule.matchAll(/Alarms([A-Za-z]+?)[0-9A-F]{8}/g)].map(([, id]) => id).sort()).toEqual([
      'ApiErrors',
      'BatchOverdue',
      'BouncesCritical',
      'ComplaintsCritical',
      'MailsOverdue',
      'OutcomeUnknown',
      'RelayOutboxLate',
      'SendDeadLetters',
      'SendQueueFull',
      'SendingPaused',
      'SweepRoundsSlow',
      'SweepSilent',
    ]);
    expect(plain((page?.['AlarmActions'] as unknown[])[0])).toMatch(/^NoticesPages/);
  });
});

describe('the topics of alarms', () => {
  const topics = Object.keys(watch.findResources('AWS::SNS::Topic'));
  const statements = all(watch, 'AWS::SNS::TopicPolicy').flatMap(
    ({ Properties }) => (Properties['PolicyDocument'] as { Statement: Record<string, unknown>[] }).Statement,
  );

  it('refuse requests without TLS and take alarms of this account alone', () => {
    expect(topics).toHaveLength(2);
    expect(statements.filter(({ Effect }) => Effect === 'Deny')).toHaveLength(2);
    const allowed = statements.filter(({ Effect }) => Effect === 'Allow');
    expect(allowed).toHaveLength(2);
    for (const { Principal, Condition } of allowed) {
      expect(Principal).toEqual({ Service: 'cloudwatch.amazonaws.com' });
      expect(Condition).toEqual({ StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } });
    }
  });

  it('are encrypted with a key that alarms may use', () => {
    for (const { Properties } of all(watch, 'AWS::SNS::Topic')) expect(plain(Properties['KmsMasterKeyId'])).toMatch(/Key.*Arn$/);
    const key = JSON.stringify(one(watch, 'AWS::KMS::Key', 'NoticesKey').Properties['KeyPolicy']);
    expect(key).toContain('kms:GenerateDataKey*');
    expect(key).toContain('cloudwatch.amazonaws.com');
  });

  it('write to the mailbox that was given, and to nobody if none was', () => {
    const subscriptions = all(watch, 'AWS::SNS::Subscription').map(({ Properties }) => Properties);
    expect(subscriptions).toMatchObject([{ Protocol: 'email', Endpoint: 'duty@example.org' }]);
    expect(plain(subscriptions[0]?.['TopicArn'])).toMatch(/^NoticesAll/);
    expect(all(synthesize().watch, 'AWS::SNS::Subscription')).toEqual([]);
  });
});
