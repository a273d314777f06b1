import { GetConfigurationSetEventDestinationsCommand, type SESv2Client } from '@aws-sdk/client-sesv2';
import { GetSubscriptionAttributesCommand, paginateListSubscriptions, type SNSClient } from '@aws-sdk/client-sns';

import type { EventDestination, EventSubscription } from '../target.ts';

/** Reads the destinations of SNS that a configuration set publishes to. */
export const readDestinations = async (ses: SESv2Client, configurationSet: string): Promise<readonly EventDestination[]> => {
  const { EventDestinations = [] } = await ses.send(
    new GetConfigurationSetEventDestinationsCommand({ ConfigurationSetName: configurationSet }),
  );
  return EventDestinations.flatMap(({ Enabled = false, MatchingEventTypes = [], SnsDestination }) =>
    SnsDestination?.TopicArn === undefined
      ? []
      : [{ enabled: Enabled, types: MatchingEventTypes, topicArn: SnsDestination.TopicArn }],
  );
};

/** The queue's ARN, made of its URL: `https://sqs.eu-west-1.amazonaws.com/123456789012/name`. */
const isQueue = (endpoint: string, queueUrl: string): boolean => {
  const [account = '', name = ''] = new URL(queueUrl).pathname.split('/').slice(1);
  return endpoint.endsWith(`:${account}:${name}`);
};

/** Finds the subscription of a queue; undefined if it has none. */
export const readSubscription = async (sns: SNSClient, queueUrl: string): Promise<EventSubscription | undefined> => {
  for await (const { Subscriptions = [] } of paginateListSubscriptions({ client: sns }, {})) {
    const found = Subscriptions.find(({ Endpoint = '' }) => isQueue(Endpoint, queueUrl));
    if (found === undefined) continue;
    const { Attributes = {} } = await sns.send(new GetSubscriptionAttributesCommand({ SubscriptionArn: found.SubscriptionArn }));
    return { raw: Attributes['RawMessageDelivery'] === 'true' };
  }
  return undefined;
};
