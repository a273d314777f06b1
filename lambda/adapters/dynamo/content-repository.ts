import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';

import type { Clock, ContentRepository } from '../../application/ports.ts';
import type { DispatchContent } from '../../domain/content.ts';
import { ContentItem } from './items.ts';
import { contentKey, dispatchKey, type ItemKey } from './keys.ts';
import { unpackContent } from './packing.ts';
import { isOfAws, isPassing } from './statements.ts';

/** Contents never change, so those in use stay in memory; 350 KB gzipped each at most. */
const KEPT = 20;

/** The content of dispatches, cached. */
export const createContentRepository = (client: DynamoDBDocumentClient, tableName: string, clock: Clock): ContentRepository => {
  const cache = new Map<string, DispatchContent>();

  const get = async (Key: ItemKey): Promise<Record<string, unknown> | undefined> =>
    (await client.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }))).Item;

  const read = async (dispatchId: string): Promise<DispatchContent | 'unknown-dispatch' | 'expired'> => {
    const found = await get(contentKey(dispatchId));
    const item = found && ContentItem.parse(found);
    // TTL deletes days late, so the timestamp decides.
    if (item && (item.expiresAt === undefined || item.expiresAt * 1000 > clock())) return unpackContent(item.data);
    return (await get(dispatchKey(dispatchId))) ? 'expired' : 'unknown-dispatch';
  };

  return {
    async find(dispatchId) {
      const kept = cache.get(dispatchId);
      if (kept) return kept;
      try {
        const content = await read(dispatchId);
        if (typeof content === 'string') return content;
        const oldest = cache.keys().next();
        if (cache.size >= KEPT && oldest.done !== true) cache.delete(oldest.value);
        cache.set(dispatchId, content);
        return content;
      } catch (error) {
        if (isPassing(error)) return 'unavailable';
        if (isOfAws(error)) throw error;
        // Content that cannot be read holds up its own dispatch, not the others of the batch.
        return 'broken';
      }
    },
  };
};
