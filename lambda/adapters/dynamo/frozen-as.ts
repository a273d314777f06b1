import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';

import { dispatchKey } from './keys.ts';

/**
 * Whether the recipients of a dispatch were counted at its end. A row that leaves its final status afterwards keeps the status
 * with which it was counted, in `frozenAs`: rows that have expired by a later end are counted by what is left then.
 * @returns undefined: the dispatch is gone
 */
export const readIsFrozen = async (
  client: DynamoDBDocumentClient,
  TableName: string,
  dispatchId: string,
): Promise<boolean | undefined> => {
  const { Item } = await client.send(
    new GetCommand({ TableName, Key: dispatchKey(dispatchId), ConsistentRead: true, ProjectionExpression: 'pk, frozenCounts' }),
  );
  return Item && Item['frozenCounts'] !== undefined;
};

/** Condition of the dispatch's part in a transaction: its first end did not come between the read and the write. */
export const stillFrozen = (isFrozen: boolean): string =>
  isFrozen ? 'attribute_exists(frozenCounts)' : 'attribute_not_exists(frozenCounts)';
