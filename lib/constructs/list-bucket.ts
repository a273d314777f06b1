import { CfnElement, Duration, Stack, Validations } from 'aws-cdk-lib';
import { Grant } from 'aws-cdk-lib/aws-iam';
import { BlockPublicAccess, Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';

import { RECOVERY_DAYS } from './dispatch-table.ts';
import { removalPolicyOf } from './removal.ts';
import type { ServiceFunction } from './service-function.ts';

export interface ListBucketProps {
  /** Whether the objects outlive a mistaken delete of the stack. */
  readonly retainData: boolean;
}

/** The bucket for what is too large for the table: long lists of recipients and large content. Items of the table name its objects. */
export class ListBucket extends Construct {
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string, { retainData }: ListBucketProps) {
    super(scope, id);
    this.bucket = new Bucket(this, 'Bucket', {
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      versioned: true,
      lifecycleRules: [
        {
          // As long as the table can be restored, the objects that its items name can be brought back. No rule by age removes
          // a current object: the sweeper removes those that no item names.
          noncurrentVersionExpiration: Duration.days(RECOVERY_DAYS),
          expiredObjectDeleteMarker: true,
          abortIncompleteMultipartUploadAfter: Duration.days(1),
        },
      ],
      removalPolicy: removalPolicyOf(retainData),
    });
    Validations.of(this.bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason:
        'Only functions of this service read and write here, and they log what they do: access logs would say nothing more.',
    });
  }

  get name(): string {
    return this.bucket.bucketName;
  }

  /** May store objects. */
  grantPut(grantee: ServiceFunction): Grant {
    return this.#onObjects(grantee, 's3:PutObject');
  }

  /** May read objects. Without the right to list, S3 says of a missing object that access is denied. */
  grantGet(grantee: ServiceFunction): Grant {
    return this.#onObjects(grantee, 's3:GetObject').combine(this.#list(grantee));
  }

  /** May read objects, and delete them once they are expanded. */
  grantExpand(grantee: ServiceFunction): Grant {
    return this.#onObjects(grantee, 's3:DeleteObject', 's3:GetObject').combine(this.#list(grantee));
  }

  /** May list objects, and delete those that no item names. */
  grantSweep(grantee: ServiceFunction): Grant {
    return this.#onObjects(grantee, 's3:DeleteObject').combine(this.#list(grantee));
  }

  #list(grantee: ServiceFunction): Grant {
    return Grant.addToPrincipal({ grantee, actions: ['s3:ListBucket'], resourceArns: [this.bucket.bucketArn] });
  }

  #onObjects(grantee: ServiceFunction, ...actions: string[]): Grant {
    const bucket = this.bucket.node.defaultChild;
    const bucketId = CfnElement.isCfnElement(bucket) ? Stack.of(bucket).getLogicalId(bucket) : '';
    Validations.of(grantee).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${bucketId}.Arn>/*]`,
      reason: 'Objects are named after dispatches, and the bucket holds nothing else.',
    });
    return Grant.addToPrincipal({ grantee, actions, resourceArns: [this.bucket.arnForObjects('*')] });
  }
}
