import { CfnOutput, Duration, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import type { TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';

import { scaleOf, type StageSettings } from '../config/stages.ts';
import { DispatchTable } from '../constructs/dispatch-table.ts';
import { ListBucket } from '../constructs/list-bucket.ts';
import { removalPolicyOf } from '../constructs/removal.ts';

export interface StorageStackProps extends StackProps {
  readonly stage: StageSettings;
}

/** What must survive: the table, the bucket of what is too large for it, and those for stream records that were given up and for exports. */
export class StorageStack extends Stack {
  readonly table: DispatchTable;
  readonly lists: ListBucket;
  readonly failures: Bucket;
  readonly exports: Bucket;

  constructor(scope: Construct, id: string, { stage, ...props }: StorageStackProps) {
    super(scope, id, props);
    this.table = new DispatchTable(this, 'Dispatches', {
      retainData: stage.retainData,
      deletionProtection: stage.deletionProtection,
      warm: scaleOf(stage).warm,
      restored: stage.restoredTable,
    });
    this.lists = new ListBucket(this, 'Lists', { retainData: stage.retainData });

    this.failures = new Bucket(this, 'RelayFailures', {
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      // Whole records with addresses in them: kept for as long as somebody may need to look, no longer.
      lifecycleRules: [{ expiration: Duration.days(30) }],
      removalPolicy: removalPolicyOf(stage.retainData),
    });
    Validations.of(this.failures).acknowledge({
      id: 'AwsSolutions-S1',
      reason:
        'Only the followers of the stream write here, in rare trouble, and objects live 30 days: a bucket of access logs would say nothing more.',
    });

    this.exports = new Bucket(this, 'Exports', {
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      // Files of addresses, made to be fetched at once.
      lifecycleRules: [{ expiration: Duration.days(1), abortIncompleteMultipartUploadAfter: Duration.days(1) }],
      removalPolicy: removalPolicyOf(stage.retainData),
    });
    Validations.of(this.exports).acknowledge({
      id: 'AwsSolutions-S1',
      reason: 'Who asked for which file, the service logs; files live a day, and their addresses five minutes.',
    });

    new CfnOutput(this, 'TableName', { value: this.table.table.tableName });
    new CfnOutput(this, 'ListBucketName', { value: this.lists.name });
    new CfnOutput(this, 'FailureBucketName', { value: this.failures.bucketName });
    this.#keepExports(this.table.own);
  }

  /** CloudFormation removes no export that another stack still imports, so a restored table could never take the place of this one. */
  #keepExports({ tableName, tableArn, tableStreamArn, tableId }: TableV2): void {
    for (const value of [tableName, tableArn, tableStreamArn, tableId]) if (value !== undefined) this.exportValue(value);
  }
}
