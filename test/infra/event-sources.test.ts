import { describe, expect, it } from 'vitest';

import { all, environmentOf, one, plain, synthesize } from './synthesized.ts';

const { dispatch } = synthesize();

const patternsOf = (mapping: string): unknown => {
  const { Filters } = one(dispatch, 'AWS::Lambda::EventSourceMapping', mapping).Properties['FilterCriteria'] as {
    Filters: { Pattern: string }[];
  };
  return Filters.map(({ Pattern }) => JSON.parse(Pattern) as unknown);
};

describe.each([
  ['the outbox', 'Outbox', 'RelayOutbox'],
  ['progress', 'Progress', 'FollowProgress'],
])('%s', (_, mapping, follower) => {
  const { Properties } = one(dispatch, 'AWS::Lambda::EventSourceMapping', mapping);

  it('feeds its function from the table', () => {
    expect(plain(Properties['EventSourceArn'])).toMatch(/^DispatchesTable.*StreamArn/);
    expect(plain(Properties['FunctionName'])).toMatch(new RegExp(`^${follower}Function`));
  });

  it('starts at the oldest record, so that a deployment misses none', () => {
    expect(Properties['StartingPosition']).toBe('TRIM_HORIZON');
  });

  it('hands over 100 records and takes back only what failed', () => {
    expect(Properties).toMatchObject({ BatchSize: 100, FunctionResponseTypes: ['ReportBatchItemFailures'] });
  });

  it('isolates a record that breaks the function, and tries a bounded number of times', () => {
    expect(Properties).toMatchObject({ BisectBatchOnFunctionError: true, MaximumRetryAttempts: 10 });
  });

  it('gives up on a record before the stream forgets it', () => {
    expect(Properties['MaximumRecordAgeInSeconds']).toBe(23 * 3_600);
  });

  it('keeps whole what it gave up on, in a bucket', () => {
    const { OnFailure } = Properties['DestinationConfig'] as { OnFailure: { Destination: unknown } };
    expect(plain(OnFailure.Destination)).toMatch(/^RelayFailures.*Arn/);
  });

  it('asks for the count without which what was given up would be silent', () => {
    expect(Properties['MetricsConfig']).toEqual({ Metrics: ['EventCount'] });
  });
});

it('the outbox passes new recipients, batches and tasks, and recipients that were final and are to be sent again', () => {
  expect(patternsOf('Outbox')).toEqual([
    {
      eventName: ['INSERT'],
      dynamodb: { Keys: { sk: { S: [{ prefix: 'RECIPIENT#' }, { prefix: 'BATCH#' }, { prefix: 'TASK#' }] } } },
    },
    {
      eventName: ['MODIFY'],
      dynamodb: {
        Keys: { sk: { S: [{ prefix: 'RECIPIENT#' }] } },
        OldImage: { status: { S: ['FAILED', 'UNKNOWN'] } },
        NewImage: { status: { S: ['PENDING'] } },
      },
    },
  ]);
});

it('progress passes changes of recipients, of dispatches that ended or were stopped, and the end of tasks that reopen', () => {
  expect(patternsOf('Progress')).toEqual([
    {
      eventName: ['MODIFY'],
      dynamodb: { Keys: { sk: { S: [{ prefix: 'RECIPIENT#' }] } }, NewImage: { status: { S: [{ exists: true }] } } },
    },
    {
      eventName: ['MODIFY'],
      dynamodb: { Keys: { sk: { S: ['DISPATCH'] } }, NewImage: { status: { S: ['COMPLETED', 'STOPPED', 'CANCELLED'] } } },
    },
    {
      eventName: ['MODIFY'],
      dynamodb: {
        Keys: { sk: { S: [{ prefix: 'TASK#' }] } },
        NewImage: { kind: { S: ['retry', 'resume'] }, state: { S: ['done'] } },
      },
    },
  ]);
});

const windowOf = (mapping: string, { dispatch: template } = synthesize()): unknown =>
  one(template, 'AWS::Lambda::EventSourceMapping', mapping).Properties['MaximumBatchingWindowInSeconds'] ?? 0;

it('progress gathers changes for a second, so that they are few writes of one item', () => {
  expect(windowOf('Progress')).toBe(1);
});

it('the outbox gathers nothing: each mail waits for it', () => {
  expect(windowOf('Outbox', synthesize('prod', { progressWindowSeconds: 5 }))).toBe(0);
  expect(windowOf('Progress', synthesize('prod', { progressWindowSeconds: 5 }))).toBe(5);
});

it('no more than two functions follow the stream, as more would be throttled', () => {
  const followed = all(dispatch, 'AWS::Lambda::EventSourceMapping').filter(({ Properties }) => 'StartingPosition' in Properties);
  expect(followed).toHaveLength(2);
});

describe.each([
  ['the send queue', 'SendRecipients', 'Sends', 10, 2],
  ['the task queue', 'RunTask', 'Tasks', 1, 2],
  ['the feedback queue', 'ApplyFeedback', 'EventsFeedback', 10, 3],
])('%s', (_, consumer, queue, batchSize, maxConcurrency) => {
  const { Properties } = one(dispatch, 'AWS::Lambda::EventSourceMapping', consumer);

  it('feeds its worker', () => {
    expect(plain(Properties['EventSourceArn'])).toMatch(new RegExp(`^${queue}Queue`));
    expect(plain(Properties['FunctionName'])).toMatch(new RegExp(`^${consumer}Function`));
  });

  it('takes back only the messages that failed', () => {
    expect(Properties['FunctionResponseTypes']).toEqual(['ReportBatchItemFailures']);
  });

  it('bounds how many workers run at once', () => {
    expect(Properties).toMatchObject({ BatchSize: batchSize, ScalingConfig: { MaximumConcurrency: maxConcurrency } });
  });

  it('has no filter: a message that matches none would be deleted unseen', () => {
    expect(Properties).not.toHaveProperty('FilterCriteria');
  });
});

it('events of SES are gathered for two seconds, and mails to send are not', () => {
  expect(windowOf('ApplyFeedback')).toBe(2);
  expect(windowOf('SendRecipients')).toBe(0);
  expect(windowOf('ApplyFeedback', synthesize('local'))).toBe(0);
});

it.each(['ApplyFeedback', 'ResolveUnclear'])(
  '%s knows how much later an event may come again that was gathered for a batch',
  (name) => {
    const seconds = (stage: string): unknown => environmentOf(synthesize(stage).dispatch, name)['FEEDBACK_REDELIVERY_SECONDS'];

    // Hidden for 60 s, gathered for up to 20, applied within 10; on the local stack nothing is gathered.
    expect(seconds('prod')).toBe('90');
    expect(seconds('local')).toBe('8');
  },
);

describe('feedback', () => {
  it('has room set aside for as many as its queue may start: a throttled one would make events late (V7)', () => {
    const reserved = one(dispatch, 'AWS::Lambda::Function', 'ApplyFeedbackFunction').Properties['ReservedConcurrentExecutions'];
    const { ScalingConfig } = one(dispatch, 'AWS::Lambda::EventSourceMapping', 'ApplyFeedback').Properties as {
      ScalingConfig: { MaximumConcurrency: number };
    };

    expect(ScalingConfig.MaximumConcurrency).toBeLessThanOrEqual(reserved as number);
  });
});

describe('the walk over unclear attempts', () => {
  it('is called once a minute, and ends before the next', () => {
    const { Properties } = one(dispatch, 'AWS::Lambda::Function', 'ResolveUnclearFunction');

    expect(one(dispatch, 'AWS::Events::Rule', 'ResolveRegularly').Properties['ScheduleExpression']).toBe('rate(1 minute)');
    expect(Properties['Timeout']).toBeLessThan(60);
    expect(Properties['ReservedConcurrentExecutions']).toBe(2);
  });
});
