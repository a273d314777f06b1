import { type DynamoDBDocumentClient, paginateQuery } from '@aws-sdk/lib-dynamodb';

import { dispatchPartition } from './keys.ts';

/** Batches or tasks of a dispatch, read consistently. */
export const pendingItems = async (
  { client, tableName }: { readonly client: DynamoDBDocumentClient; readonly tableName: string },
  dispatchId: string,
  prefix: string,
): Promise<Record<string, unknown>[]> => {
  const items: Record<string, unknown>[] = [];
  const query = {
    TableName: tableName,
    ConsistentRead: true,
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': dispatchPartition(dispatchId), ':prefix': prefix },
    ProjectionExpression: 'pk, sk, kind, requestedAt, #state, #count',
    ExpressionAttributeNames: { '#state': 'state', '#count': 'count' },
  };
  for await (const { Items = [] } of paginateQuery({ client }, query)) items.push(...Items);
  return items;
};
