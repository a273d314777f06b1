import { Duration } from 'aws-cdk-lib';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

import type { AlarmText } from './alarm-registry.ts';
import type { ServiceFunction } from './service-function.ts';

export interface WorkerQueueProps {
  /** How often the consumer itself tries one message before it gives up on it. */
  readonly plannedAttempts: number;

  /** How long the consumer may run. */
  readonly consumerTimeout: Duration;

  /**
   * How long a message that was handed out stays hidden.
   *
   * @default - six times as long as the consumer may run, as AWS asks for
   */
  readonly visibility?: Duration;

  /** What it means for people that messages were given up, and where it is written what to do then. */
  readonly whenGivenUp: AlarmText;
}

export interface ConsumerProps {
  readonly batchSize: number;
  /** Copies of the consumer at once, from 2 to 1000; the consumer must have as many reserved. */
  readonly maxConcurrency: number;
  /**
   * How long messages are gathered for a batch.
   *
   * @default - not at all
   */
  readonly window?: Duration;
}

/** Receives beyond the planned attempts: crashes, throttles and a look in the console count as receives too. */
const RECEIVE_HEADROOM = 4;

/** A queue with its dead letters, and what the alarm says when some are there. */
export class WorkerQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly maxReceiveCount: number;
  readonly whenGivenUp: AlarmText;

  readonly #consumerTimeout: Duration;

  constructor(scope: Construct, id: string, props: WorkerQueueProps) {
    super(scope, id);
    const visibility = props.visibility ?? Duration.seconds(6 * props.consumerTimeout.toSeconds());
    if (visibility.toSeconds() <= props.consumerTimeout.toSeconds()) {
      throw new Error(
        `'visibility' (${visibility.toSeconds()} s) must be longer than 'consumerTimeout' (${props.consumerTimeout.toSeconds()} s)`,
      );
    }
    if (!Number.isInteger(props.plannedAttempts) || props.plannedAttempts < 1) {
      throw new Error(`'plannedAttempts' must be a whole number of at least 1, got ${props.plannedAttempts}`);
    }
    this.maxReceiveCount = props.plannedAttempts + RECEIVE_HEADROOM;
    this.whenGivenUp = props.whenGivenUp;
    this.#consumerTimeout = props.consumerTimeout;

    this.deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(4),
      visibilityTimeout: visibility,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: this.maxReceiveCount },
    });
  }

  /** Lets the function drain the queue, and gives it the rights for that. */
  addConsumer(consumer: ServiceFunction, { batchSize, maxConcurrency, window }: ConsumerProps): void {
    if (consumer.timeout.toSeconds() > this.#consumerTimeout.toSeconds()) {
      throw new Error(
        `${consumer.node.path} may run ${consumer.timeout.toSeconds()} s, but ${this.node.path} was built for ` +
          `${this.#consumerTimeout.toSeconds()} s: give both the same time`,
      );
    }
    this.#grant(consumer, 'sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes');
    new EventSourceMapping(consumer, this.node.id, {
      target: consumer.lambda,
      eventSourceArn: this.queue.queueArn,
      batchSize,
      maxConcurrency,
      ...(window && { maxBatchingWindow: window }),
      reportBatchItemFailures: true,
    });
  }

  /** May put messages in. */
  grantSend(grantee: IGrantable): Grant {
    return this.#grant(grantee, 'sqs:SendMessage');
  }

  /** May hide a message that it holds for another time than the queue's. */
  grantChangeVisibility(grantee: IGrantable): Grant {
    return this.#grant(grantee, 'sqs:ChangeMessageVisibility');
  }

  /** May ask how many messages there are. */
  grantReadDepth(grantee: IGrantable): Grant {
    return this.#grant(grantee, 'sqs:GetQueueAttributes');
  }

  #grant(grantee: IGrantable, ...actions: string[]): Grant {
    return Grant.addToPrincipal({ grantee, actions, resourceArns: [this.queue.queueArn] });
  }
}
