import { Duration, Stack } from 'aws-cdk-lib';
import { afterAll, describe, expect, it } from 'vitest';

import { WorkerQueue } from '../../lib/constructs/worker-queue.ts';
import { all, emptyApp, one, plain, removeFolders, synthesize } from './synthesized.ts';

afterAll(removeFolders);

const { dispatch } = synthesize();

const queue = (prefix: string) => one(dispatch, 'AWS::SQS::Queue', prefix);
const DAY = 86_400;

describe.each([
  ['the send queue', 'Sends', 360, 7 + 4],
  ['the task queue', 'Tasks', 360, 7 + 4],
  ['the feedback queue', 'EventsFeedback', 60, 200 + 4],
])('%s', (_, name, visibility, maxReceiveCount) => {
  const live = queue(`${name}Queue`);
  const dead = queue(`${name}DeadLetters`);

  it('hides a message for longer than its worker may run', () => {
    expect(live.Properties['VisibilityTimeout']).toBe(visibility);
  });

  it('gives a message up only after more receives than the worker plans attempts (Q6)', () => {
    const { deadLetterTargetArn, ...policy } = live.Properties['RedrivePolicy'] as { deadLetterTargetArn: unknown };
    expect(policy).toEqual({ maxReceiveCount });
    expect(plain(deadLetterTargetArn)).toBe(`${dead.id}.Arn`);
  });

  it('keeps dead letters for 14 days, live messages for 4 (Q6)', () => {
    expect(live.Properties['MessageRetentionPeriod']).toBe(4 * DAY);
    expect(dead.Properties['MessageRetentionPeriod']).toBe(14 * DAY);
  });

  it('is encrypted, as are its dead letters', () => {
    expect([live, dead].map(({ Properties }) => Properties['SqsManagedSseEnabled'])).toEqual([true, true]);
  });
});

const denials = (template: typeof dispatch, type: string, targets: string) =>
  all(template, type).flatMap(({ Properties }) => {
    const { Statement } = Properties['PolicyDocument'] as { Statement: { Effect: string; Condition?: unknown }[] };
    const isTlsOnly = Statement.some(
      ({ Effect, Condition }) => Effect === 'Deny' && JSON.stringify(Condition) === '{"Bool":{"aws:SecureTransport":"false"}}',
    );
    return isTlsOnly ? (Properties[targets] as unknown[]).map(plain) : [];
  });

it('every queue refuses requests without TLS', () => {
  const queues = Object.keys(dispatch.findResources('AWS::SQS::Queue'));
  expect(queues).toHaveLength(6);
  expect(denials(dispatch, 'AWS::SQS::QueuePolicy', 'Queues').sort()).toEqual(queues.sort());
});

it('every topic refuses requests without TLS', () => {
  const topics = Object.keys(dispatch.findResources('AWS::SNS::Topic'));
  expect(topics).toHaveLength(1);
  expect(denials(dispatch, 'AWS::SNS::TopicPolicy', 'Topics')).toEqual(topics);
});

describe('WorkerQueue', () => {
  const props = {
    plannedAttempts: 7,
    consumerTimeout: Duration.seconds(20),
    whenGivenUp: { impact: 'Nothing moves.', runbook: 'task-dead-letters' },
  } as const;
  const stack = () => new Stack(emptyApp(), 'Test');

  it('hides a message for six times as long as the worker may run unless told otherwise', () => {
    const { queue: built } = new WorkerQueue(stack(), 'Tasks', props);
    expect(built.node.defaultChild).toMatchObject({ visibilityTimeout: 120 });
  });

  it('fails when a message would come back to a worker that still runs', () => {
    expect(() => new WorkerQueue(stack(), 'Tasks', { ...props, visibility: Duration.seconds(20) })).toThrow(
      /'visibility' \(20 s\) must be longer than 'consumerTimeout' \(20 s\)/,
    );
  });

  it.each([0, 1.5, -1])('fails when %d attempts are planned', (plannedAttempts) => {
    expect(() => new WorkerQueue(stack(), 'Tasks', { ...props, plannedAttempts })).toThrow(
      /'plannedAttempts' must be a whole number/,
    );
  });
});
