import * as z from 'zod';

import { withoutEffect } from '../parse-resource.ts';

const BACKUP = 'the database is a file that a person may copy';
const ONE_VERSION = 'the emulator keeps one version of an object';
const AT_REST = 'encryption at rest';
const COST = 'accounting';

const KeySchema = z.array(z.strictObject({ AttributeName: z.string(), KeyType: z.enum(['HASH', 'RANGE']) }));

const Projection = z.strictObject({
  ProjectionType: z.enum(['ALL', 'KEYS_ONLY', 'INCLUDE']),
  NonKeyAttributes: z.array(z.string()).optional(),
});

/** AWS::DynamoDB::GlobalTable, the form CDK's TableV2 takes. */
export const GlobalTable = z.strictObject({
  TableName: z.string().optional(),
  AttributeDefinitions: z.array(z.strictObject({ AttributeName: z.string(), AttributeType: z.enum(['S', 'N', 'B']) })),
  KeySchema,
  BillingMode: z.literal('PAY_PER_REQUEST'),
  GlobalSecondaryIndexes: z
    .array(z.strictObject({ IndexName: z.string(), KeySchema, Projection, WarmThroughput: withoutEffect('capacity') }))
    .default([]),
  StreamSpecification: z
    .strictObject({ StreamViewType: z.enum(['NEW_AND_OLD_IMAGES', 'NEW_IMAGE', 'OLD_IMAGE', 'KEYS_ONLY']) })
    .optional(),
  TimeToLiveSpecification: z.strictObject({ AttributeName: z.string(), Enabled: z.literal(true) }).optional(),
  Replicas: z.tuple([
    z.strictObject({
      Region: z.string(),
      GlobalSecondaryIndexes: withoutEffect('names the indexes again, with capacity and metrics only'),
      PointInTimeRecoverySpecification: withoutEffect(BACKUP),
      DeletionProtectionEnabled: withoutEffect('nobody deletes the table here but by deleting the folder'),
      ContributorInsightsSpecification: withoutEffect('metrics'),
      SSESpecification: withoutEffect(AT_REST),
      TableClass: withoutEffect(COST),
      Tags: withoutEffect(COST),
      ResourcePolicy: withoutEffect('no rights are checked'),
    }),
  ]),
  SSESpecification: withoutEffect(AT_REST),
  WarmThroughput: withoutEffect('capacity'),
});

/** AWS::S3::Bucket. */
export const Bucket = z.strictObject({
  BucketName: z.string().optional(),
  BucketEncryption: withoutEffect(AT_REST),
  LifecycleConfiguration: z
    .strictObject({
      Rules: z.array(
        z.strictObject({
          Status: z.literal('Enabled'),
          ExpirationInDays: z.number().positive().optional(),
          NoncurrentVersionExpiration: withoutEffect(ONE_VERSION),
          ExpiredObjectDeleteMarker: withoutEffect(ONE_VERSION),
          AbortIncompleteMultipartUpload: withoutEffect('nothing here is uploaded in parts'),
        }),
      ),
    })
    .default({ Rules: [] }),
  PublicAccessBlockConfiguration: withoutEffect('nothing listens but at the local address'),
  OwnershipControls: withoutEffect('one owner'),
  VersioningConfiguration: withoutEffect(ONE_VERSION),
  ObjectLockEnabled: withoutEffect('nobody else deletes objects'),
  LoggingConfiguration: withoutEffect('access logs'),
  Tags: withoutEffect(COST),
});
