import { CfnElement, Stack, Validations } from 'aws-cdk-lib';
import { Grant } from 'aws-cdk-lib/aws-iam';
import type { Bucket } from 'aws-cdk-lib/aws-s3';

import type { ServiceFunction } from './service-function.ts';

/** The bucket of exports, and what its users may do with the files in it. */
export class ExportBucket {
  readonly #bucket: Bucket;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  get name(): string {
    return this.#bucket.bucketName;
  }

  /** May put files, and read their parts. */
  grantWrite(grantee: ServiceFunction): Grant {
    return this.#grant(grantee, 's3:GetObject', 's3:PutObject');
  }

  /** May sign addresses of files: whoever uses one has the right of whoever signed it. */
  grantFetch(grantee: ServiceFunction): Grant {
    return this.#grant(grantee, 's3:GetObject');
  }

  #grant(grantee: ServiceFunction, ...actions: string[]): Grant {
    const bucket = this.#bucket.node.defaultChild;
    const bucketId = CfnElement.isCfnElement(bucket) ? Stack.of(bucket).getLogicalId(bucket) : '';
    Validations.of(grantee).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${bucketId}.Arn>/*]`,
      reason: 'Files are named after dispatches, and the bucket holds nothing else.',
    });
    return Grant.addToPrincipal({ grantee, actions, resourceArns: [this.#bucket.arnForObjects('*')] });
  }
}
