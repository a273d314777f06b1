import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { SweepStates } from '../../../application/ports/control.ts';
import { type Instant, toIso } from '../../../domain/shared/instant.ts';
import { controlKey } from '../client/keys.ts';
import { type OnUnreadable, readReplaceable } from '../client/replaceable-item.ts';
import { Iso } from '../recipient/items.ts';
import { isAwsError, isTransient } from '../recipient/statements.ts';

const SweeperItem = z.object({
  lastPassAt: Iso.exactOptional(),
  newestSentAt: Iso.exactOptional(),
  roundSince: Iso.exactOptional(),
  roundProgressAt: Iso.exactOptional(),
});

const Key = controlKey('SWEEPER');

/** What the sweeper leaves behind, in the table. An attribute that cannot be read hides no other, and the next pass replaces it. */
export const createSweepStates = (
  client: DynamoDBDocumentClient,
  tableName: string,
  onUnreadable?: OnUnreadable,
): SweepStates => {
  const read = async (name: keyof z.output<typeof SweeperItem>) => {
    const { Item } = await client.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }));
    return Iso.optional().safeParse(Item?.[name]);
  };

  const raise = async (name: 'lastPassAt' | 'newestSentAt', to: Instant, more = ''): Promise<void> => {
    if (await raiseOnce(client, tableName, name, to, more)) return;
    const stored = await readReplaceable({ client, tableName, onUnreadable }, Key, SweeperItem);
    if (stored?.[name] === undefined) await raiseOnce(client, tableName, name, to, more);
  };

  return {
    async newestSent(seen) {
      if (seen !== undefined) await raise('newestSentAt', seen);
      return (await read('newestSentAt')).data;
    },

    async lastPassAt() {
      try {
        const found = await read('lastPassAt');
        return found.success ? found.data : 'unavailable';
      } catch (error) {
        if (isAwsError(error) && !isTransient(error)) throw error;
        return 'unavailable';
      }
    },

    passed: (at) => raise('lastPassAt', at, ' REMOVE roundSince, roundProgressAt'),

    openRound: async () => (await read('roundSince')).data,

    roundProgressAt: async () => (await read('roundProgressAt')).data,

    async keepRound(since, progressAt) {
      const UpdateExpression = `SET roundSince = :since${progressAt === undefined ? '' : ', roundProgressAt = :progress'}`;
      const ExpressionAttributeValues = {
        ':since': toIso(since),
        ...(progressAt !== undefined && { ':progress': toIso(progressAt) }),
      };
      await client.send(new UpdateCommand({ TableName: tableName, Key, UpdateExpression, ExpressionAttributeValues }));
    },
  };
};

/** @returns false: a later instant is there, perhaps of another pass, or one that cannot be read */
const raiseOnce = async (
  client: DynamoDBDocumentClient,
  TableName: string,
  name: 'lastPassAt' | 'newestSentAt',
  to: Instant,
  more: string,
): Promise<boolean> => {
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
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};
