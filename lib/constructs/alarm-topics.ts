import { Aws, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';

export interface AlarmTopicsProps {
  /** Mailbox that is told of every alarm; empty: none. */
  readonly email: string;
}

/** Whom alarms tell: one topic for every alarm, and one for those for which somebody must get up. */
export class AlarmTopics extends Construct {
  readonly all: Topic;
  readonly pages: Topic;

  constructor(scope: Construct, id: string, { email }: AlarmTopicsProps) {
    super(scope, id);
    const masterKey = this.#keyForAlarms();
    this.all = this.#addTopic('All', masterKey);
    this.pages = this.#addTopic('Pages', masterKey);
    if (email !== '') this.all.addSubscription(new EmailSubscription(email));
  }

  #addTopic(id: string, masterKey: Key): Topic {
    const topic = new Topic(this, id, { enforceSSL: true, masterKey });
    // A policy of one's own replaces the one by which everything in the account may publish.
    topic.addToResourcePolicy(fromAlarms('sns:Publish', topic.topicArn));
    return topic;
  }

  /** Alarms cannot use the key that SNS has by itself. Nothing is kept under it, so it goes with the stack. */
  #keyForAlarms(): Key {
    const key = new Key(this, 'Key', {
      description: 'Notices of alarms, while SNS holds them',
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    for (const action of ['kms:GenerateDataKey*', 'kms:Decrypt']) key.addToResourcePolicy(fromAlarms(action, '*'));
    return key;
  }
}

/** Alarms of this account, and of no other. */
const fromAlarms = (action: string, resource: string): PolicyStatement =>
  new PolicyStatement({
    principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
    actions: [action],
    resources: [resource],
    conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
  });
