import {
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';

/** The items of a table as they were at one moment. */
export type Snapshot = readonly Readonly<Record<string, unknown>>[];

/** Copies all items. Point-in-time recovery does the same for a second of the past. */
export const takeSnapshot = async (client: DynamoDBClient, tableName: string): Promise<Snapshot> => {
  const items: Record<string, unknown>[] = [];
  const pages = paginateScan({ client: DynamoDBDocumentClient.from(client) }, { TableName: tableName, ConsistentRead: true });
  for await (const { Items = [] } of pages) items.push(...Items);
  return items;
};

/** What the stack must be told of a restored table. */
export interface Restored {
  readonly streamArn: string;
  readonly id: string;
}

const PUT_AT_ONCE = 25;

/**
 * Makes a table with the keys, indexes and items of another, then turns on its stream and TTL: DynamoDB restores neither, and no
 * restored item is in the stream.
 */
export const restoreTable = async (
  client: DynamoDBClient,
  snapshot: Snapshot,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Restored> => {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: from }));
  await client.send(
    new CreateTableCommand({
      TableName: to,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: Table?.AttributeDefinitions,
      KeySchema: Table?.KeySchema,
      GlobalSecondaryIndexes: Table?.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({
        IndexName,
        KeySchema,
        Projection,
      })),
    }),
  );
  const documents = DynamoDBDocumentClient.from(client);
  for (let first = 0; first < snapshot.length; first += PUT_AT_ONCE) {
    const puts = snapshot.slice(first, first + PUT_AT_ONCE).map((Item) => ({ PutRequest: { Item } }));
    await documents.send(new BatchWriteCommand({ RequestItems: { [to]: puts } }));
  }
  await client.send(
    new UpdateTableCommand({
      TableName: to,
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }),
  );
  await client.send(
    new UpdateTimeToLiveCommand({ TableName: to, TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true } }),
  );
  const { Table: made } = await client.send(new DescribeTableCommand({ TableName: to }));
  if (made?.LatestStreamArn === undefined) throw new Error(`${to} has no stream`);
  return { streamArn: made.LatestStreamArn, id: made.TableId ?? to };
};
