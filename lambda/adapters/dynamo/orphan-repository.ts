import { type DynamoDBDocumentClient, GetCommand, paginateQuery, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { OrphanRepository } from '../../application/list-ports.ts';
import { parseObjectKey } from '../../contracts/object-key.ts';
import { toIso } from '../../domain/instant.ts';
import { Iso } from './items.ts';
import { BATCH_PREFIX, contentKey, controlKey, dispatchPartition, type ItemKey } from './keys.ts';

const Naming = z.object({ object: z.string().exactOptional() });
const Search = z.object({ lastAt: Iso.exactOptional(), cursor: z.string().exactOptional() });

const Key = controlKey('LISTS');

/** The items that name objects, in the table. */
export const createOrphanRepository = (client: DynamoDBDocumentClient, TableName: string): OrphanRepository => {
  const get = async (key: ItemKey): Promise<Record<string, unknown> | undefined> =>
    (await client.send(new GetCommand({ TableName, Key: key, ConsistentRead: true }))).Item;

  return {
    placeOf(key) {
      const place = parseObjectKey(key);
      return place && { dispatchId: place.dispatchId, holds: place.name === 'content' ? 'content' : 'batch' };
    },

    async batchObjects(dispatchId) {
      const query = {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: { ':pk': dispatchPartition(dispatchId), ':prefix': BATCH_PREFIX },
        ProjectionExpression: '#object',
        ExpressionAttributeNames: { '#object': 'object' },
      };
      const objects = new Set<string>();
      for await (const { Items = [] } of paginateQuery({ client }, query)) {
        for (const item of Items) {
          const { object } = Naming.parse(item);
          if (object !== undefined) objects.add(object);
        }
      }
      return objects;
    },

    // Also of content that has expired: its object goes after TTL has removed the item.
    contentObject: async (dispatchId) => Naming.parse((await get(contentKey(dispatchId))) ?? {}).object,

    search: async () => Search.parse((await get(Key)) ?? {}),

    async advance({ lastAt, cursor }) {
      await client.send(
        new UpdateCommand({
          TableName,
          Key,
          UpdateExpression: cursor === undefined ? 'SET lastAt = :at REMOVE #cursor' : 'SET lastAt = :at, #cursor = :cursor',
          ExpressionAttributeNames: { '#cursor': 'cursor' },
          ExpressionAttributeValues: {
            ':at': toIso(lastAt ?? 0),
            ...(cursor !== undefined && { ':cursor': cursor }),
          },
        }),
      );
    },
  };
};
