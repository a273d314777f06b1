import { CfnElement, Duration, Stack, Validations } from 'aws-cdk-lib';
import { Grant } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, FilterCriteria, MetricType, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';

import type { DispatchTable } from './dispatch-table.ts';
import type { ServiceFunction } from './service-function.ts';

export interface OutboxRelayProps {
  readonly table: DispatchTable;
  readonly relay: ServiceFunction;
  /** Keeps whole what could not be relayed; a queue would get a mere pointer into a stream that forgets in a day. */
  readonly failures: Bucket;
}

const startsWith = (...prefixes: string[]) => ({ S: prefixes.map((prefix) => ({ prefix })) });
const is = (...values: string[]) => ({ S: values });

/** A new recipient, batch or task; and a recipient that was final and is to be sent again. */
const RELAYED = [
  { eventName: ['INSERT'], dynamodb: { Keys: { sk: startsWith('RECIPIENT#', 'BATCH#', 'TASK#') } } },
  {
    eventName: ['MODIFY'],
    dynamodb: {
      Keys: { sk: startsWith('RECIPIENT#') },
      OldImage: { status: is('FAILED', 'UNKNOWN') },
      NewImage: { status: is('PENDING') },
    },
  },
];

/** The table's stream as outbox: every write that asks for a message reaches the relay, or the bucket. */
export class OutboxRelay extends Construct {
  readonly mapping: EventSourceMapping;

  constructor(scope: Construct, id: string, { table, relay, failures }: OutboxRelayProps) {
    super(scope, id);
    table.grantFollow(relay);
    Grant.addToPrincipal({ grantee: relay, actions: ['s3:PutObject'], resourceArns: [failures.arnForObjects('*')] });
    // The event source looks at the bucket before it writes there.
    Grant.addToPrincipal({ grantee: relay, actions: ['s3:ListBucket'], resourceArns: [failures.bucketArn] });

    const bucket = failures.node.defaultChild;
    const bucketId = CfnElement.isCfnElement(bucket) ? Stack.of(bucket).getLogicalId(bucket) : '';
    Validations.of(relay).acknowledge(
      { id: 'AwsSolutions-IAM5[Resource::*]', reason: 'dynamodb:ListStreams knows no narrower resource; it tells names only.' },
      {
        id: `AwsSolutions-IAM5[Resource::<${bucketId}.Arn>/*]`,
        reason: 'The event source makes up the name of each object it puts into the bucket, which holds nothing else.',
      },
    );

    this.mapping = new EventSourceMapping(this, 'Stream', {
      target: relay.lambda,
      eventSourceArn: table.streamArn,
      // The only position that misses nothing while the mapping is made or changed.
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 100,
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      retryAttempts: 10,
      // The stream forgets after 24 hours; what is left by then is put into the bucket before.
      maxRecordAge: Duration.hours(23),
      supportS3OnFailureDestination: true,
      onFailure: { bind: () => ({ destination: failures.bucketArn }) },
      // Without these nothing tells that something was put into the bucket.
      metricsConfig: { metrics: [MetricType.EVENT_COUNT] },
      filters: RELAYED.map((pattern) => FilterCriteria.filter(pattern)),
    });
  }
}
