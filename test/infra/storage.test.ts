import { afterAll, describe, expect, it } from 'vitest';

import { BATCH_PREFIX, RECIPIENT_PREFIX } from '../../lambda/contracts/table-keys.ts';
import { buildApp, one, removeFolders, synthesize } from './synthesized.ts';

afterAll(removeFolders);

const table = (stage: string, given = {}) => one(synthesize(stage, given).storage, 'AWS::DynamoDB::GlobalTable', 'Dispatches');
const bucket = (stage: string, given = {}) => one(synthesize(stage, given).storage, 'AWS::S3::Bucket', 'RelayFailures');
const lists = (stage: string, given = {}) => one(synthesize(stage, given).storage, 'AWS::S3::Bucket', 'Lists');
const only = (list: unknown): unknown => {
  expect(list).toHaveLength(1);
  return (list as [unknown])[0];
};

describe('the table', () => {
  const { Properties } = table('prod');

  it('pays by request and streams both images', () => {
    expect(Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    });
  });

  it('can be restored to any second of 35 days', () => {
    expect(only(Properties['Replicas'])).toMatchObject({
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 35 },
    });
  });

  it('has two indexes that hold keys only, over attributes that recipients do not have', () => {
    expect(Properties['GlobalSecondaryIndexes']).toEqual([
      {
        IndexName: 'by-admin',
        KeySchema: [
          { AttributeName: 'adminKey', KeyType: 'HASH' },
          { AttributeName: 'createdKey', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
      {
        IndexName: 'open',
        KeySchema: [
          { AttributeName: 'openKey', KeyType: 'HASH' },
          { AttributeName: 'createdKey', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ]);
  });
});

it('the names that the functions use are those that the stack builds', () => {
  const patterns = JSON.stringify(
    one(synthesize().dispatch, 'AWS::Lambda::EventSourceMapping', 'Outbox').Properties['FilterCriteria'],
  );

  expect(patterns).toContain(RECIPIENT_PREFIX);
  expect(patterns).toContain(BATCH_PREFIX);
});

describe('the bucket for what could not be relayed', () => {
  const { Properties } = bucket('prod');

  it('is encrypted and closed to the public', () => {
    expect(Properties['BucketEncryption']).toEqual({
      ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
    });
    expect(Object.values(Properties['PublicAccessBlockConfiguration'] as object)).toEqual([true, true, true, true]);
  });

  it('forgets after 30 days, because records hold addresses', () => {
    expect(Properties['LifecycleConfiguration']).toEqual({ Rules: [{ ExpirationInDays: 30, Status: 'Enabled' }] });
  });

  it('refuses requests without TLS', () => {
    const policy = one(synthesize().storage, 'AWS::S3::BucketPolicy', 'RelayFailures').Properties['PolicyDocument'];
    expect(only((policy as { Statement: unknown }).Statement)).toMatchObject({
      Effect: 'Deny',
      Action: 's3:*',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    });
  });
});

describe('the bucket for long lists and large content', () => {
  const { Properties } = lists('prod');

  it('is encrypted and closed to the public', () => {
    expect(Properties['BucketEncryption']).toEqual({
      ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
    });
    expect(Object.values(Properties['PublicAccessBlockConfiguration'] as object)).toEqual([true, true, true, true]);
  });

  it('keeps old versions as long as the table can be restored, and removes no current object by its age', () => {
    expect(Properties['VersioningConfiguration']).toEqual({ Status: 'Enabled' });
    expect(Properties['LifecycleConfiguration']).toEqual({
      Rules: [
        {
          Status: 'Enabled',
          NoncurrentVersionExpiration: { NoncurrentDays: 35 },
          ExpiredObjectDeleteMarker: true,
          AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
        },
      ],
    });
  });

  it('refuses requests without TLS', () => {
    const policy = one(synthesize().storage, 'AWS::S3::BucketPolicy', 'Lists').Properties['PolicyDocument'];
    expect(only((policy as { Statement: unknown }).Statement)).toMatchObject({
      Effect: 'Deny',
      Action: 's3:*',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    });
  });
});

describe('what a mistaken delete does', () => {
  it.each(['prod', 'dev'])('in stage %s with deletionProtection: it is refused', (name) => {
    const given = { deletionProtection: true };
    const { storage, dispatch } = buildApp(name, given);

    expect([storage.terminationProtection, dispatch.terminationProtection]).toEqual([true, true]);
    expect(only(table(name, given).Properties['Replicas'])).toMatchObject({ DeletionProtectionEnabled: true });
  });

  it.each(['prod', 'staging'])('in stage %s without it: the data stays', (name) => {
    const given = { accountAlarms: false };
    for (const of of [table, bucket, lists])
      expect(of(name, given)).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' });
  });

  it.each(['dev', 'local'])('in stage %s: it deletes', (name) => {
    const { storage, dispatch } = buildApp(name);

    expect([storage.terminationProtection, dispatch.terminationProtection]).toEqual([false, false]);
    expect(only(table(name).Properties['Replicas'])).toMatchObject({ DeletionProtectionEnabled: false });
    expect([table(name).DeletionPolicy, bucket(name).DeletionPolicy]).toEqual(['Delete', 'Delete']);
  });
});

describe('the bucket for exports', () => {
  const { id, Properties } = one(synthesize('prod').storage, 'AWS::S3::Bucket', 'Exports');

  it('is encrypted and closed to the public, and refuses requests without TLS', () => {
    expect(Properties['BucketEncryption']).toEqual({
      ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
    });
    expect(Object.values(Properties['PublicAccessBlockConfiguration'] as object)).toEqual([true, true, true, true]);
    const policy = one(synthesize('prod').storage, 'AWS::S3::BucketPolicy', 'Exports').Properties;
    expect(policy['Bucket']).toEqual({ Ref: id });
    expect(only((policy['PolicyDocument'] as { Statement: unknown }).Statement)).toMatchObject({
      Effect: 'Deny',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    });
  });

  it('forgets after a day, because files hold addresses', () => {
    expect(only((Properties['LifecycleConfiguration'] as { Rules: unknown }).Rules)).toMatchObject({
      ExpirationInDays: 1,
      Status: 'Enabled',
    });
  });
});
