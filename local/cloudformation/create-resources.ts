import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { CreateTopicCommand, SubscribeCommand } from '@aws-sdk/client-sns';
import { CreateQueueCommand } from '@aws-sdk/client-sqs';

import type { Clients } from '../clients.ts';
import { expireObjects } from '../emulators/expire-objects.ts';
import type { FakeSes } from '../fake-ses/fake-ses.ts';
import type { Model } from './model.ts';

type Table = Model['tables'][number];

const describeTable = async ({ dynamodb }: Clients, name: string): Promise<TableDescription | undefined> => {
  try {
    return (await dynamodb.send(new DescribeTableCommand({ TableName: name }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};

const toInput = ({ name, properties }: Table): CreateTableCommandInput => ({
  TableName: name,
  AttributeDefinitions: properties.AttributeDefinitions,
  KeySchema: properties.KeySchema,
  BillingMode: properties.BillingMode,
  ...(properties.GlobalSecondaryIndexes.length > 0 && {
    GlobalSecondaryIndexes: properties.GlobalSecondaryIndexes.map(({ IndexName, KeySchema, Projection }) => ({
      IndexName,
      KeySchema,
      Projection: {
        ProjectionType: Projection.ProjectionType,
        ...(Projection.NonKeyAttributes && { NonKeyAttributes: Projection.NonKeyAttributes }),
      },
    })),
  }),
  ...(properties.StreamSpecification && {
    StreamSpecification: { StreamEnabled: true, StreamViewType: properties.StreamSpecification.StreamViewType },
  }),
});

/** What two tables must have in common for the data of one to be good for the other. */
const shapeOf = (table: Pick<TableDescription, 'KeySchema' | 'GlobalSecondaryIndexes'>): string =>
  JSON.stringify([
    table.KeySchema?.map(({ AttributeName, KeyType }) => `${AttributeName ?? ''} ${KeyType ?? ''}`),
    table.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName).toSorted() ?? [],
  ]);

const createTable = async (clients: Clients, table: Table, directory: string) => {
  const input = toInput(table);
  const existing = await describeTable(clients, table.name);
  if (existing === undefined) {
    await clients.dynamodb.send(new CreateTableCommand(input));
    const ttl = table.properties.TimeToLiveSpecification;
    if (ttl) {
      await clients.dynamodb.send(
        new UpdateTimeToLiveCommand({
          TableName: table.name,
          TimeToLiveSpecification: { AttributeName: ttl.AttributeName, Enabled: ttl.Enabled },
        }),
      );
    }
  } else if (shapeOf(existing) !== shapeOf({ ...input, GlobalSecondaryIndexes: input.GlobalSecondaryIndexes ?? [] })) {
    throw new Error(
      `The table of an earlier run has other keys or indexes than the template. Delete ${directory} to start afresh (its data is lost).`,
    );
  }
};

/** The stream of a table, by the table's name. */
export const findStream = async (clients: Clients, tableName: string): Promise<string> => {
  const arn = (await describeTable(clients, tableName))?.LatestStreamArn;
  if (arn === undefined) throw new Error(`the table ${tableName} has no stream`);
  return arn;
};

/** Creates what the template describes in the emulators; the table and the objects of an earlier run stay. */
export const createResources = async (model: Model, clients: Clients, fakeSes: FakeSes, directory: string): Promise<void> => {
  await Promise.all(model.tables.map((table) => createTable(clients, table, directory)));
  for (const bucket of model.buckets) {
    await clients.s3.send(new CreateBucketCommand({ Bucket: bucket.name }));
    await expireObjects(clients, bucket, Date.now());
  }
  for (const { name, properties } of model.queues) {
    await clients.sqs.send(
      new CreateQueueCommand({
        QueueName: name,
        Attributes: {
          VisibilityTimeout: String(properties.VisibilityTimeout),
          MessageRetentionPeriod: String(properties.MessageRetentionPeriod),
          DelaySeconds: String(properties.DelaySeconds),
          ReceiveMessageWaitTimeSeconds: String(properties.ReceiveMessageWaitTimeSeconds),
          ...(properties.MaximumMessageSize !== undefined && { MaximumMessageSize: String(properties.MaximumMessageSize) }),
          ...(properties.RedrivePolicy && { RedrivePolicy: JSON.stringify(properties.RedrivePolicy) }),
        },
      }),
    );
  }
  for (const { name } of model.topics) await clients.sns.send(new CreateTopicCommand({ Name: name }));
  for (const { properties } of model.subscriptions) {
    if (properties.Protocol !== 'sqs') continue;
    await clients.sns.send(
      new SubscribeCommand({
        TopicArn: properties.TopicArn,
        Protocol: 'sqs',
        Endpoint: properties.Endpoint,
        Attributes: { RawMessageDelivery: String(properties.RawMessageDelivery) },
      }),
    );
  }
  for (const { name } of model.configurationSets) fakeSes.addConfigurationSet(name);
  const destinations = model.eventDestinations
    .map(({ properties }) => properties)
    .filter(({ EventDestination: { Enabled } }) => Enabled)
    .map(({ ConfigurationSetName, EventDestination: { MatchingEventTypes, SnsDestination } }) => ({
      configurationSet: ConfigurationSetName,
      topicArn: SnsDestination.TopicARN,
      types: MatchingEventTypes,
    }));
  fakeSes.publishEvents(clients.sns, destinations);
};
