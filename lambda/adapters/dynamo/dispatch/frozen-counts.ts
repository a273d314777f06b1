import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { FrozenChange, LastEnd } from '../../../domain/dispatch/frozen-counts.ts';
import { dispatchKey } from '../client/keys.ts';
import { Count } from '../recipient/items.ts';

const Ended = z.object({ frozenGeneration: Count.exactOptional() });
const Reopened = z.object({ reopenedAfter: Count.exactOptional() });

/** The generation of the end after which a row was reopened last; undefined: it was not. */
export const reopenedAfterOf = (item: unknown): number | undefined => Reopened.parse(item).reopenedAfter;

/** The last end of a dispatch; undefined: the dispatch is gone. */
export const readLastEnd = async (
  client: DynamoDBDocumentClient,
  TableName: string,
  dispatchId: string,
): Promise<LastEnd | undefined> => {
  const ProjectionExpression = 'pk, frozenGeneration';
  const { Item } = await client.send(
    new GetCommand({ TableName, Key: dispatchKey(dispatchId), ConsistentRead: true, ProjectionExpression }),
  );
  return Item && Ended.parse(Item);
};

interface Update {
  readonly UpdateExpression: string;
  readonly ConditionExpression: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues: Readonly<Record<string, unknown>>;
}

/** Changes the counts of the last end with an update of the dispatch, as long as no other end came after that one was read. */
export const withFrozenChange = <T extends Update>(
  update: T,
  change: FrozenChange | undefined,
  { frozenGeneration }: LastEnd,
) => ({
  ...update,
  UpdateExpression: update.UpdateExpression.replace('SET ', () => `SET ${change === undefined ? '' : terms(change)}`),
  ConditionExpression: `${update.ConditionExpression} AND ${
    frozenGeneration === undefined ? 'attribute_not_exists(frozenGeneration)' : 'frozenGeneration = :frozenGeneration'
  }`,
  ...((update.ExpressionAttributeNames ?? change) && {
    ExpressionAttributeNames: { ...update.ExpressionAttributeNames, ...(change && namesOf(change)) },
  }),
  ExpressionAttributeValues: {
    ...update.ExpressionAttributeValues,
    ...(frozenGeneration !== undefined && { ':frozenGeneration': frozenGeneration }),
    ...(change && { ':one': 1 }),
  },
});

const terms = ({ to }: FrozenChange): string =>
  `frozenCounts.#from = frozenCounts.#from - :one, ${to === undefined ? '' : 'frozenCounts.#to = frozenCounts.#to + :one, '}`;

const namesOf = ({ from, to }: FrozenChange) => ({ '#from': from, ...(to !== undefined && { '#to': to }) });
