import { describe, expect, it } from 'vitest';

import type { Assembly, TemplateResource } from '../../../../local/cloudformation/assembly.ts';
import { buildModel } from '../../../../local/cloudformation/model.ts';

const addresses = { sqs: 'http://127.0.0.1:1', api: 'http://127.0.0.1:2', tableSuffix: '' };

const resource = (logicalId: string, type: string, properties: Record<string, unknown> = {}): TemplateResource => ({
  stack: 'main',
  logicalId,
  type,
  properties,
  path: `Main/${logicalId}/Resource`,
});
const assemblyOf = (...resources: TemplateResource[]): Assembly => ({
  stacks: [{ name: 'main', resources, outputs: {}, parameters: {} }],
  assets: new Map(),
});
const build = (...resources: TemplateResource[]) => buildModel(assemblyOf(...resources), addresses);

describe('the model of a template', () => {
  it('names resources after their construct and leads references to the emulators', () => {
    const { queues } = build(
      resource('SendDeadLetters', 'AWS::SQS::Queue'),
      resource('Send', 'AWS::SQS::Queue', {
        VisibilityTimeout: 20,
        RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['SendDeadLetters', 'Arn'] }, maxReceiveCount: 3 },
      }),
    );
    expect(queues.map(({ ref }) => ref)).toEqual([
      'http://127.0.0.1:1/000000000000/send-dead-letters',
      'http://127.0.0.1:1/000000000000/send',
    ]);
    expect(queues[1]?.properties).toMatchObject({
      VisibilityTimeout: 20,
      RedrivePolicy: { deadLetterTargetArn: 'arn:aws:sqs:us-east-1:000000000000:send-dead-letters', maxReceiveCount: 3 },
    });
  });

  it('knows an event bus by its name and its address', () => {
    const { eventBuses } = build(resource('Bus', 'AWS::Events::EventBus', { Name: 'mail-dispatch-local' }));
    expect(eventBuses).toMatchObject([
      {
        name: 'mail-dispatch-local',
        ref: 'mail-dispatch-local',
        attributes: { Arn: 'arn:aws:events:us-east-1:000000000000:event-bus/mail-dispatch-local' },
      },
    ]);
  });

  it('carries values from one stack to another', () => {
    const assembly: Assembly = {
      stacks: [
        {
          name: 'storage',
          parameters: {},
          resources: [{ ...resource('Q', 'AWS::SQS::Queue'), stack: 'storage' }],
          outputs: { Out: { value: { 'Fn::GetAtt': ['Q', 'Arn'] }, exportName: 'storage:Q' } },
        },
        {
          name: 'main',
          parameters: {},
          resources: [
            resource('S', 'AWS::SNS::Subscription', {
              Protocol: 'sqs',
              TopicArn: 'arn:t',
              Endpoint: { 'Fn::ImportValue': 'storage:Q' },
            }),
          ],
          outputs: {},
        },
      ],
      assets: new Map(),
    };
    expect(buildModel(assembly, addresses).subscriptions[0]?.properties).toMatchObject({
      Endpoint: 'arn:aws:sqs:us-east-1:000000000000:q',
    });
  });

  it.each([
    [
      'an unknown type',
      resource('X', 'AWS::StepFunctions::StateMachine'),
      'Main/X/Resource (AWS::StepFunctions::StateMachine): this type',
    ],
    ['an unknown property', resource('Q', 'AWS::SQS::Queue', { Surprise: 1 }), 'property Surprise is not understood'],
    ['an unknown value', resource('Q', 'AWS::SQS::Queue', { VisibilityTimeout: 'long' }), 'property VisibilityTimeout'],
    [
      'a nested unknown property',
      resource('Q', 'AWS::SQS::Queue', { RedrivePolicy: { deadLetterTargetArn: 'a', maxReceiveCount: 1, odd: 1 } }),
      'property RedrivePolicy.odd',
    ],
    [
      'an event source that it cannot read',
      resource('M', 'AWS::Lambda::EventSourceMapping', { EventSourceArn: 'arn:aws:kinesis:x' }),
      'event source arn:aws:kinesis:x',
    ],
    [
      'a stream read from its end',
      resource('M', 'AWS::Lambda::EventSourceMapping', {
        EventSourceArn: 'arn:aws:dynamodb:x',
        FunctionName: 'f',
        StartingPosition: 'LATEST',
      }),
      'property StartingPosition',
    ],
    [
      'a batching window that AWS does not have',
      resource('M', 'AWS::Lambda::EventSourceMapping', {
        EventSourceArn: 'arn:aws:dynamodb:x',
        FunctionName: 'f',
        StartingPosition: 'TRIM_HORIZON',
        MaximumBatchingWindowInSeconds: 301,
      }),
      'property MaximumBatchingWindowInSeconds',
    ],
    ['a reference to nothing', resource('Q', 'AWS::SQS::Queue', { QueueName: { Ref: 'Gone' } }), 'refers to Gone'],
  ])('is refused, by name, for %s', (_, bad, message) => {
    expect(() => build(bad)).toThrow(message);
  });
});
