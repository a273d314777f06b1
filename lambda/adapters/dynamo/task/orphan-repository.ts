import { type DynamoDBDocumentClient, GetCommand, paginateQuery, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { OrphanRepository } from '../../../application/ports/objects.ts';
import { parseObjectKey } from '../../../contracts/queue/object-key.ts';
import { BATCH_PREFIX } from '../../../contracts/table-keys.ts';
import { toIso } from '../../../domain/shared/instant.ts';
import { contentKey, controlKey, dispatchPartition, type ItemKey } from '../client/keys.ts';
import { Count, Iso } from '../recipient/items.ts';

const Naming = z.object({ object: z.string().exactOptional() });
/** What cannot be read begins anew: a search may be made at any time, from the first object on. */
const Search = z.object({
  lastAt: Iso.optional().catch(undefined),
  cursor: z.string().optional().catch(undefined),
  batchesOverdue: Count.optional().catch(undefined),
});

const Key = controlKey('LISTS');

/** The items that name objects, in the table. */
export const createOrphanRepository = (client: DynamoDBDocumentClient, TableName: string): OrphanRepository => {
  const get = async (key: ItemKey): Promise<Record<string, unknown> | undefined> =>
    (await client.send(new GetCommand({ TableName, Key: key, ConsistentRead: true }))).Item;

  const batches = async (dispatchId: string): Promise<Record<string, unknown>[]> => {
    const query = {
      TableName,
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': dispatchPartition(dispatchId), ':prefix': BATCH_PREFIX },
      ProjectionExpression: '#object',
      ExpressionAttributeNames: { '#object': 'object' },
    };
    const items: Record<string, unknown>[] = [];
    for await (const { Items = [] } of paginateQuery({ client }, query)) items.push(...Items);
    return items;
  };

  return {
    placeOf(key) {
      const place = parseObjectKey(key);
      return place && { dispatchId: place.dispatchId, holds: place.name === 'content' ? 'content' : 'batch' };
    },

    namedObjects: async (dispatchId, holds) => {
      // Also of content that has expired: its object goes after TTL has removed the item.
      const items = holds === 'batch' ? await batches(dispatchId) : [(await get(contentKey(dispatchId))) ?? {}];
      const named = z.array(Naming).safeParse(items).data;
      return named === undefined ? 'unreadable' : new Set(named.flatMap(({ object }) => object ?? []));
    },

    async search() {
      const { lastAt, cursor, batchesOverdue } = Search.parse((await get(Key)) ?? {});
      return {
        ...(lastAt !== undefined && { lastAt }),
        ...(cursor !== undefined && { cursor }),
        ...(batchesOverdue !== undefined && { batchesOverdue }),
      };
    },

    async advance({ lastAt, cursor, batchesOverdue }) {
      await client.send(
        new UpdateCommand({
          TableName,
          Key,
          UpdateExpression:
            cursor === undefined
              ? 'SET lastAt = :at REMOVE #cursor, #overdue'
              : 'SET lastAt = :at, #cursor = :cursor, #overdue = :overdue',
          ExpressionAttributeNames: { '#cursor': 'cursor', '#overdue': 'batchesOverdue' },
          ExpressionAttributeValues: {
            ':at': toIso(lastAt ?? 0),
            ...(cursor !== undefined && { ':cursor': cursor, ':overdue': batchesOverdue ?? 0 }),
          },
        }),
      );
    },
  };
};
