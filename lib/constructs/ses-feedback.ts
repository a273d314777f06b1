import { Aws, type Duration } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { ConfigurationSet, EmailSendingEvent, EventDestination } from 'aws-cdk-lib/aws-ses';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { SqsSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';

import { removalPolicyOf } from './removal.ts';
import { WorkerQueue } from './worker-queue.ts';

export interface SesFeedbackProps {
  /** How long the function that applies events may run. */
  readonly timeout: Duration;

  /** How long an event that was handed out stays hidden; three deliveries fit into the lease of a sender that waits for it. */
  readonly visibility: Duration;

  /** Whether the topic's key outlives the stack. */
  readonly retainData: boolean;
}

/** Opens and clicks are left out: they are about people, not about mails. */
const EVENTS = [
  EmailSendingEvent.SEND,
  EmailSendingEvent.REJECT,
  EmailSendingEvent.BOUNCE,
  EmailSendingEvent.COMPLAINT,
  EmailSendingEvent.DELIVERY,
  EmailSendingEvent.RENDERING_FAILURE,
  EmailSendingEvent.DELIVERY_DELAY,
];

/** What SES tells about the mails that went through the configuration set, on its way to a queue. */
export class SesFeedback extends Construct {
  readonly configurationSet: ConfigurationSet;
  readonly feedback: WorkerQueue;

  constructor(scope: Construct, id: string, { timeout, visibility, retainData }: SesFeedbackProps) {
    super(scope, id);

    this.feedback = new WorkerQueue(this, 'Feedback', {
      consumerTimeout: timeout,
      visibility,
      // Whatever waits for an event that was given up waits for a person, so it is tried for hours before that.
      plannedAttempts: 200,
      whenGivenUp: {
        impact: 'What became of some mails is not recorded, and those whose answer was lost wait for a person.',
        runbook: 'feedback-dead-letters',
      },
    });

    const topic = new Topic(this, 'Topic', { enforceSSL: true, masterKey: this.#keyForSes(retainData) });
    topic.addSubscription(
      new SqsSubscription(this.feedback.queue, { rawMessageDelivery: true, deadLetterQueue: this.feedback.deadLetters }),
    );

    this.configurationSet = new ConfigurationSet(this, 'ConfigurationSet', { reputationMetrics: true });
    this.configurationSet.addEventDestination('Events', { destination: EventDestination.snsTopic(topic), events: EVENTS });
  }

  /** Events hold addresses. SES cannot use the key that SNS has by itself, so the topic gets one of its own. */
  #keyForSes(retainData: boolean): Key {
    const key = new Key(this, 'Key', {
      description: 'Events of SES about mails, while SNS holds them',
      enableKeyRotation: true,
      removalPolicy: removalPolicyOf(retainData),
    });
    key.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('ses.amazonaws.com')],
        actions: ['kms:GenerateDataKey', 'kms:Decrypt'],
        resources: ['*'],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    return key;
  }
}
