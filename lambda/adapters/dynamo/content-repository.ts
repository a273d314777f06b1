import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';

import type { Clock, ContentRepository } from '../../application/ports.ts';
import type { DispatchContent } from '../../domain/content.ts';
import { ContentItem } from './items.ts';
import { contentKey, dispatchKey } from './keys.ts';
import { unpackContent } from './packing.ts';

/** Contents never change, so those in use stay in memory; 350 KB gzipped each at most. */
const KEPT = 20;

/** The content of dispatches, cached. */
export const createContentRepository = (client: DynamoDBDocumentClient, tableName: string, clock: Clock): ContentRepository => {
  const cache = new Map<string, DispatchContent>();
  return {
    async find(dispatchId) {
      const kept = cache.get(dispatchId);
      if (kept) return kept;
      const { Item } = await client.send(
        new GetCommand({ TableName: tableName, Key: contentKey(dispatchId), ConsistentRead: true }),
      );
      const item = Item && ContentItem.parse(Item);
      // TTL deletes days late, so the timestamp decides.
      if (item === undefined || (item.expiresAt !== undefined && item.expiresAt * 1000 <= clock())) {
        const dispatch = await client.send(
          new GetCommand({ TableName: tableName, Key: dispatchKey(dispatchId), ConsistentRead: true }),
        );
        return dispatch.Item ? 'expired' : 'unknown-dispatch';
      }
      const content = unpackContent(item.data);
      const oldest = cache.keys().next();
      if (cache.size >= KEPT && oldest.done !== true) cache.delete(oldest.value);
      cache.set(dispatchId, content);
      return content;
    },
  };
};
