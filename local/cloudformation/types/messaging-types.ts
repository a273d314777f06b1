import * as z from 'zod';

import { withoutEffect } from '../parse-resource.ts';

const AT_REST = 'encryption at rest';

/** AWS::SQS::Queue. */
export const Queue = z.strictObject({
  QueueName: z.string().optional(),
  VisibilityTimeout: z.number().default(30),
  MessageRetentionPeriod: z.number().default(345_600),
  DelaySeconds: z.number().default(0),
  ReceiveMessageWaitTimeSeconds: z.number().default(0),
  MaximumMessageSize: z.number().optional(),
  RedrivePolicy: z.strictObject({ deadLetterTargetArn: z.string(), maxReceiveCount: z.number() }).optional(),
  RedriveAllowPolicy: withoutEffect('a right to redrive; the emulator has no move tasks'),
  SqsManagedSseEnabled: withoutEffect(AT_REST),
  KmsMasterKeyId: withoutEffect(AT_REST),
  KmsDataKeyReusePeriodSeconds: withoutEffect(AT_REST),
  Tags: withoutEffect('accounting'),
});

/** AWS::SNS::Topic. */
export const Topic = z.strictObject({
  TopicName: z.string().optional(),
  DisplayName: withoutEffect('shown in mails and texts only'),
  KmsMasterKeyId: withoutEffect(AT_REST),
  TracingConfig: withoutEffect('tracing'),
  Tags: withoutEffect('accounting'),
});

/** AWS::SNS::Subscription of a queue; one of a person's mailbox is known and left alone. */
export const Subscription = z.discriminatedUnion('Protocol', [
  z.strictObject({
    Protocol: z.literal('sqs'),
    TopicArn: z.string(),
    Endpoint: z.string(),
    RawMessageDelivery: z.boolean().default(false),
    RedrivePolicy: withoutEffect('the emulated topic always reaches the queue'),
  }),
  z.strictObject({
    Protocol: z.literal('email'),
    TopicArn: z.string(),
    Endpoint: withoutEffect('no alarm goes off here, so no one is written to'),
  }),
]);

/** AWS::SES::ConfigurationSet. */
export const ConfigurationSet = z.strictObject({
  Name: z.string().optional(),
  ReputationOptions: withoutEffect('metrics'),
  SendingOptions: z.strictObject({ SendingEnabled: z.literal(true) }).optional(),
  DeliveryOptions: withoutEffect('no mail leaves this machine'),
  SuppressionOptions: withoutEffect('the gate has no suppression list'),
  TrackingOptions: withoutEffect('nothing is opened or clicked'),
  VdmOptions: withoutEffect('metrics'),
});

/** AWS::SES::ConfigurationSetEventDestination to a topic. */
export const EventDestination = z.strictObject({
  ConfigurationSetName: z.string(),
  EventDestination: z.strictObject({
    Name: z.string().optional(),
    Enabled: z.boolean(),
    MatchingEventTypes: z.array(z.string()),
    SnsDestination: z.strictObject({ TopicARN: z.string() }),
  }),
});

/** AWS::Events::EventBus. */
export const EventBus = z.strictObject({
  Name: z.string(),
  Description: withoutEffect('text'),
  KmsKeyIdentifier: withoutEffect(AT_REST),
  LogConfig: withoutEffect('logs go to files'),
  Tags: withoutEffect('accounting'),
});
