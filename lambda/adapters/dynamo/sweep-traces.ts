import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { SweepTraces } from '../../application/ports.ts';
import { type Instant, toIso } from '../../domain/instant.ts';
import { Iso } from './items.ts';
import { controlKey } from './keys.ts';
import { isOfAws, isPassing } from './statements.ts';

const SweeperItem = z.object({
  lastPassAt: Iso.exactOptional(),
  newestSentAt: Iso.exactOptional(),
  roundSince: Iso.exactOptional(),
});

const Key = controlKey('SWEEPER');

/** What the sweeper leaves behind, in the table. */
export const createSweepTraces = (client: DynamoDBDocumentClient, tableName: string): SweepTraces => ({
  async newestSent(seen) {
    if (seen !== undefined) await raise(client, tableName, 'newestSentAt', seen);
    const { Item } = await client.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }));
    return SweeperItem.parse(Item ?? {}).newestSentAt;
  },

  async lastPassAt() {
    try {
      const { Item } = await client.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }));
      return SweeperItem.parse(Item ?? {}).lastPassAt;
    } catch (error) {
      if (isOfAws(error) && !isPassing(error)) throw error;
      return 'unavailable';
    }
  },

  passed: (at) => raise(client, tableName, 'lastPassAt', at, ' REMOVE roundSince'),

  async openRound() {
    const { Item } = await client.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }));
    return SweeperItem.parse(Item ?? {}).roundSince;
  },

  async keepRound(since) {
    const UpdateExpression = 'SET roundSince = :since';
    const ExpressionAttributeValues = { ':since': toIso(since) };
    await client.send(new UpdateCommand({ TableName: tableName, Key, UpdateExpression, ExpressionAttributeValues }));
  },
});

const raise = async (
  client: DynamoDBDocumentClient,
  TableName: string,
  name: 'lastPassAt' | 'newestSentAt',
  to: Instant,
  more = '',
): Promise<void> => {
  try {
    await client.send(
      new UpdateCommand({
        TableName,
        Key,
        UpdateExpression: `SET ${name} = :at${more}`,
        ConditionExpression: `attribute_not_exists(${name}) OR ${name} < :at`,
        ExpressionAttributeValues: { ':at': toIso(to) },
      }),
    );
  } catch (error) {
    // Another pass has left a later one.
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};
