import { CfnElement, Duration, Stack, Validations } from 'aws-cdk-lib';
import { Grant } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, FilterCriteria, MetricType, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';

import type { AlarmText, RegisteredAlarmProps } from './alarm-registry.ts';
import type { DispatchTable } from './dispatch-table.ts';
import type { ServiceFunction } from './service-function.ts';

export interface StreamConsumerProps {
  readonly table: DispatchTable;
  readonly consumer: ServiceFunction;
  /** Patterns of EventBridge; a record that matches any of them is handed over. */
  readonly patterns: readonly Readonly<Record<string, unknown>>[];
  /** Keeps whole what was given up; a queue would get a mere pointer into a stream that forgets in a day. */
  readonly failures: Bucket;
  /**
   * How long records are gathered for a batch.
   *
   * @default - not at all: a record is handed over at once
   */
  readonly window?: Duration;
  /** Copies of the function for a shard of the stream. Changes of one item still come in order. */
  readonly parallelizationFactor: number;
  /** What it means for people that the function is minutes behind. */
  readonly whenLate: AlarmText & Pick<RegisteredAlarmProps, 'severity'>;
  /** What it means for people that records were given up. */
  readonly whenGivenUp: AlarmText;
  /** What it means for people that records were given up and could not be put into the bucket. */
  readonly whenLost: AlarmText;
}

/** A function that follows the table's stream: every record that it asks for reaches it, or the bucket. There may be two. */
export class StreamConsumer extends Construct {
  readonly consumer: ServiceFunction;
  readonly mapping: EventSourceMapping;
  readonly whenLate: StreamConsumerProps['whenLate'];
  readonly whenGivenUp: AlarmText;
  readonly whenLost: AlarmText;

  constructor(scope: Construct, id: string, props: StreamConsumerProps) {
    super(scope, id);
    const { table, consumer, failures, patterns, window, parallelizationFactor } = props;
    this.consumer = consumer;
    this.whenLate = props.whenLate;
    this.whenGivenUp = props.whenGivenUp;
    this.whenLost = props.whenLost;

    table.grantFollow(consumer);
    this.#grantKeep(failures);
    this.mapping = new EventSourceMapping(this, 'Stream', {
      target: consumer.lambda,
      eventSourceArn: table.streamArn,
      // The only position that misses nothing while the mapping is made or changed.
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 100,
      ...(window && { maxBatchingWindow: window }),
      parallelizationFactor,
      reportBatchItemFailures: true,
      bisectBatchOnError: true,
      retryAttempts: 10,
      // The stream forgets after 24 hours; what is left by then is put into the bucket before.
      maxRecordAge: Duration.hours(23),
      supportS3OnFailureDestination: true,
      onFailure: { bind: () => ({ destination: failures.bucketArn }) },
      // Without these nothing tells that something was put into the bucket.
      metricsConfig: { metrics: [MetricType.EVENT_COUNT] },
      filters: patterns.map((pattern) => FilterCriteria.filter(pattern)),
    });
  }

  /** The event source writes with the function's rights, and looks at the bucket before it does. */
  #grantKeep(failures: Bucket): void {
    const grantee = this.consumer;
    Grant.addToPrincipal({ grantee, actions: ['s3:PutObject'], resourceArns: [failures.arnForObjects('*')] });
    Grant.addToPrincipal({ grantee, actions: ['s3:ListBucket'], resourceArns: [failures.bucketArn] });

    const bucket = failures.node.defaultChild;
    const bucketId = CfnElement.isCfnElement(bucket) ? Stack.of(bucket).getLogicalId(bucket) : '';
    Validations.of(grantee).acknowledge(
      { id: 'AwsSolutions-IAM5[Resource::*]', reason: 'dynamodb:ListStreams knows no narrower resource; it tells names only.' },
      {
        id: `AwsSolutions-IAM5[Resource::<${bucketId}.Arn>/*]`,
        reason: 'The event source makes up the name of each object it puts into the bucket, which holds nothing else.',
      },
    );
  }
}
