import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { SweepTraces } from '../../application/ports.ts';
import { toIso } from '../../domain/instant.ts';
import { Iso } from './items.ts';
import { controlKey } from './keys.ts';
import { isOfAws, isPassing } from './statements.ts';

const SweeperItem = z.object({ lastPassAt: Iso.exactOptional() });

const Key = controlKey('SWEEPER');

/** What the sweeper leaves behind, in the table. */
export const createSweepTraces = (client: DynamoDBDocumentClient, tableName: string): SweepTraces => ({
  async lastPassAt() {
    try {
      const { Item } = await client.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }));
      return SweeperItem.parse(Item ?? {}).lastPassAt;
    } catch (error) {
      if (isOfAws(error) && !isPassing(error)) throw error;
      return 'unavailable';
    }
  },

  async passed(at) {
    try {
      await client.send(
        new UpdateCommand({
          TableName: tableName,
          Key,
          UpdateExpression: 'SET lastPassAt = :at',
          ConditionExpression: 'attribute_not_exists(lastPassAt) OR lastPassAt < :at',
          ExpressionAttributeValues: { ':at': toIso(at) },
        }),
      );
    } catch (error) {
      // Another pass ended later than this one.
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  },
});
