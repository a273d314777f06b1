import * as z from 'zod';

import { withoutEffect } from '../parse-resource.ts';

/** AWS::Lambda::Function with Node.js code from an asset. */
export const LambdaFunction = z.strictObject({
  FunctionName: z.string().optional(),
  Code: z.strictObject({ S3Bucket: z.string(), S3Key: z.string() }),
  Handler: z.string().regex(/^[\w/-]+\.\w+$/),
  Runtime: z.string().startsWith('nodejs'),
  Timeout: z.number().default(3),
  MemorySize: z.number().default(128),
  ReservedConcurrentExecutions: z.number().optional(),
  Environment: z.strictObject({ Variables: z.record(z.string(), z.string()).default({}) }).default({ Variables: {} }),
  Architectures: withoutEffect("this machine's own"),
  Role: withoutEffect('no rights are checked'),
  LoggingConfig: withoutEffect('logs go to files'),
  Description: withoutEffect('text'),
  TracingConfig: withoutEffect('tracing'),
  EphemeralStorage: withoutEffect("this machine's own"),
  RecursiveLoop: withoutEffect('protection of the account'),
  Tags: withoutEffect('accounting'),
});

const FilterCriteria = z.strictObject({ Filters: z.array(z.strictObject({ Pattern: z.string() })) });

const common = {
  FunctionName: z.string(),
  EventSourceArn: z.string(),
  Enabled: z.literal(true).default(true),
  FunctionResponseTypes: z.array(z.literal('ReportBatchItemFailures')).default([]),
  Tags: withoutEffect('accounting'),
  MetricsConfig: withoutEffect('metrics'),
};

/** AWS::Lambda::EventSourceMapping of a queue. */
export const QueueMapping = z.strictObject({
  ...common,
  BatchSize: z.number().min(1).max(10).default(10),
  ScalingConfig: z.strictObject({ MaximumConcurrency: z.number().min(2) }).default({ MaximumConcurrency: 5 }),
});

/** AWS::Lambda::EventSourceMapping of a table's stream. */
export const StreamMapping = z.strictObject({
  ...common,
  BatchSize: z.number().min(1).max(10_000).default(100),
  StartingPosition: z.literal('TRIM_HORIZON'),
  BisectBatchOnFunctionError: z.boolean().default(false),
  MaximumRetryAttempts: z.number().default(-1),
  MaximumRecordAgeInSeconds: z.number().default(-1),
  ParallelizationFactor: z.literal(1).default(1),
  MaximumBatchingWindowInSeconds: z.number().min(0).max(300).default(0),
  FilterCriteria: FilterCriteria.default({ Filters: [] }),
  DestinationConfig: z
    .strictObject({ OnFailure: z.strictObject({ Destination: z.string().startsWith('arn:aws:s3:::') }) })
    .optional(),
});

/** AWS::Events::Rule: a schedule that calls functions. */
export const ScheduleRule = z.strictObject({
  Name: z.string().optional(),
  Description: withoutEffect('text'),
  ScheduleExpression: z.string().regex(/^rate\(\d+ (minute|hour|day)s?\)$/),
  State: z.literal('ENABLED').default('ENABLED'),
  Targets: z.array(
    z.strictObject({
      Arn: z.string(),
      Id: z.string(),
      RetryPolicy: withoutEffect('the call does not leave this process'),
      DeadLetterConfig: withoutEffect('the call does not leave this process'),
    }),
  ),
});
