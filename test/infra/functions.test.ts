import { describe, expect, it } from 'vitest';

import { AcceptDispatchEnv } from '../../lambda/handlers/accept-dispatch/env.ts';
import { ApplyFeedbackEnv } from '../../lambda/handlers/apply-feedback/env.ts';
import { FollowProgressEnv } from '../../lambda/handlers/follow-progress/env.ts';
import { OperateDispatchesEnv } from '../../lambda/handlers/operate-dispatches/env.ts';
import { OperateSendingEnv } from '../../lambda/handlers/operate-sending/env.ts';
import { ReadDispatchesEnv } from '../../lambda/handlers/read-dispatches/env.ts';
import { RelayOutboxEnv } from '../../lambda/handlers/relay-outbox/env.ts';
import { ResolveUnclearEnv } from '../../lambda/handlers/resolve-unclear/env.ts';
import { RunTaskEnv } from '../../lambda/handlers/run-task/env.ts';
import { SendRecipientsEnv } from '../../lambda/handlers/send-recipients/env.ts';
import { ShowOperationsEnv } from '../../lambda/handlers/show-operations/env.ts';
import { SweepEnv } from '../../lambda/handlers/sweep/env.ts';
import { all, environmentOf, one, plain, synthesize } from './synthesized.ts';

const FUNCTIONS = [
  ['AcceptDispatch', AcceptDispatchEnv],
  ['ReadDispatches', ReadDispatchesEnv],
  ['OperateDispatches', OperateDispatchesEnv],
  ['OperateSending', OperateSendingEnv],
  ['RelayOutbox', RelayOutboxEnv],
  ['FollowProgress', FollowProgressEnv],
  ['RunTask', RunTaskEnv],
  ['SendRecipients', SendRecipientsEnv],
  ['ApplyFeedback', ApplyFeedbackEnv],
  ['ShowOperations', ShowOperationsEnv],
  ['Sweep', SweepEnv],
  ['ResolveUnclear', ResolveUnclearEnv],
] as const;

const { dispatch } = synthesize('prod', { templatePrefix: 'recruiting-' });

describe.each(FUNCTIONS)('%s', (name, schema) => {
  const { Properties } = one(dispatch, 'AWS::Lambda::Function', `${name}Function`);

  it('runs on Node 24 and arm64', () => {
    expect(Properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'], Handler: 'index.handler' });
  });

  it('is given settings that it accepts, and none that it does not know', () => {
    const { POWERTOOLS_SERVICE_NAME, POWERTOOLS_METRICS_NAMESPACE, POWERTOOLS_LOG_LEVEL, NODE_OPTIONS, ...own } = environmentOf(
      dispatch,
      name,
    );

    expect([POWERTOOLS_SERVICE_NAME, POWERTOOLS_METRICS_NAMESPACE, POWERTOOLS_LOG_LEVEL]).toEqual([
      'mail-dispatch',
      'MailDispatch',
      'INFO',
    ]);
    expect(NODE_OPTIONS).toBe('--enable-source-maps');
    const resolved = Object.fromEntries(Object.entries(own).map(([key, value]) => [key, plain(value)]));
    expect(schema.strict().safeParse(resolved).error).toBeUndefined();
  });

  it('writes to a log group of its own that outlives it and forgets', () => {
    const { id, Properties: logs, DeletionPolicy } = one(dispatch, 'AWS::Logs::LogGroup', `${name}Logs`);

    expect(Properties['LoggingConfig']).toEqual({ LogGroup: { Ref: id } });
    expect(logs['RetentionInDays']).toBe(90);
    expect(DeletionPolicy).toBe('RetainExceptOnCreate');
  });
});

describe('the settings of a stage', () => {
  const settings = {
    leaseSeconds: 200,
    sesTimeoutSeconds: 5,
    functionTimeoutSeconds: 40,
    visibilitySeconds: 400,
    attemptsPerRound: 5,
    backoffBaseSeconds: 20,
    backoffCapSeconds: 2_000,
    maxConcurrency: 8,
    parallelCalls: 9,
    maxSendRate: 80,
    rateShare: 0.4,
    unclearPolicy: 'manual',
    resendsAfterLost: 2,
    watermarkMarginSeconds: 80,
    behindAfterSeconds: 50,
    unknownAfterSeconds: 1_800,
    retentionDays: 90,
    repeatGuardSeconds: 300,
    feedbackTimeoutSeconds: 12,
    feedbackVisibilitySeconds: 40,
    stuckAfterSeconds: 500,
    revisitSeconds: 700,
    templatePrefix: 'recruiting-',
    replyToAddress: 'help@example.org',
  };
  const own = synthesize('prod', settings).dispatch;

  it('reach the sender', () => {
    expect(environmentOf(own, 'SendRecipients')).toMatchObject({
      LEASE_SECONDS: '200',
      SES_TIMEOUT_SECONDS: '5',
      ATTEMPTS_PER_ROUND: '5',
      BACKOFF_BASE_SECONDS: '20',
      BACKOFF_CAP_SECONDS: '2000',
      MAX_RECEIVE_COUNT: '9',
      MAX_CONCURRENCY: '8',
      PARALLEL_CALLS: '9',
      MAX_SEND_RATE: '80',
      RATE_SHARE: '0.4',
      RETENTION_DAYS: '90',
    });
    expect(one(own, 'AWS::Lambda::Function', 'SendRecipientsFunction').Properties['Timeout']).toBe(40);
  });

  it('reach feedback', () => {
    expect(environmentOf(own, 'ApplyFeedback')).toMatchObject({
      RETENTION_DAYS: '90',
      BEHIND_AFTER_SECONDS: '50',
      FEEDBACK_REDELIVERY_SECONDS: '72',
    });
    expect(one(own, 'AWS::Lambda::Function', 'ApplyFeedbackFunction').Properties['Timeout']).toBe(12);
    expect(one(own, 'AWS::SQS::Queue', 'EventsFeedbackQueue').Properties['VisibilityTimeout']).toBe(40);
  });

  it('reach the function that resolves unclear attempts', () => {
    expect(environmentOf(own, 'ResolveUnclear')).toMatchObject({
      UNCLEAR_POLICY: 'manual',
      RESENDS_AFTER_LOST: '2',
      WATERMARK_MARGIN_SECONDS: '80',
      FEEDBACK_REDELIVERY_SECONDS: '72',
      UNKNOWN_AFTER_SECONDS: '1800',
      LEASE_SECONDS: '200',
      ATTEMPTS_PER_ROUND: '5',
      FROM_ADDRESS: '"Hiring" <jobs@mail.example.org>',
      RETENTION_DAYS: '90',
    });
  });

  it('reach the sweeper', () => {
    expect(environmentOf(own, 'Sweep')).toMatchObject({
      OPEN_INDEX: 'open',
      STUCK_AFTER_SECONDS: '500',
      REVISIT_SECONDS: '700',
      RETENTION_DAYS: '90',
    });
  });

  it('reach the function that accepts', () => {
    expect(environmentOf(own, 'AcceptDispatch')).toMatchObject({
      TEMPLATE_PREFIX: 'recruiting-',
      FROM_ADDRESS: '"Hiring" <jobs@mail.example.org>',
      REPLY_TO_ADDRESS: 'help@example.org',
      REPEAT_GUARD_SECONDS: '300',
      MAX_SEND_RATE: '80',
      RATE_SHARE: '0.4',
    });
  });
});

it('only functions of this service run: no helper of a framework with rights of its own', () => {
  expect(all(dispatch, 'AWS::Lambda::Function')).toHaveLength(FUNCTIONS.length);
});

it('the API answers before the gateway gives up at 30 s', () => {
  for (const name of ['AcceptDispatch', 'ReadDispatches', 'OperateDispatches', 'OperateSending']) {
    expect(one(dispatch, 'AWS::Lambda::Function', `${name}Function`).Properties['Timeout']).toBeLessThan(30);
  }
});

it('recovery runs every five minutes and ends before the next pass', () => {
  expect(one(dispatch, 'AWS::Events::Rule', 'Sweep').Properties).toMatchObject({
    ScheduleExpression: 'rate(5 minutes)',
    State: 'ENABLED',
  });
  expect(one(dispatch, 'AWS::Lambda::Function', 'SweepFunction').Properties['Timeout']).toBeLessThan(300);
});
