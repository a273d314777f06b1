import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';

import type { ContentRepository, UnreadableContent } from '../../../application/ports/dispatches.ts';
import { Unavailable } from '../../../application/ports/errors.ts';
import type { ObjectReader } from '../../../application/ports/objects.ts';
import type { Clock } from '../../../application/ports/system.ts';
import type { DispatchContent } from '../../../domain/dispatch/content.ts';
import { decodeContent } from '../client/codec.ts';
import { contentKey, dispatchKey, type ItemKey } from '../client/keys.ts';
import { ContentItem } from '../recipient/items.ts';
import { isAwsError, isTransient } from '../recipient/statements.ts';
import { stopUnreadable } from './stop-unreadable.ts';

/** Contents never change, so those in use stay in memory; 350 KB gzipped each at most. */
const KEPT = 20;

export interface ContentRepositoryDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly objects: ObjectReader;
  readonly clock: Clock;
}

/** The content of dispatches, cached. */
export const createContentRepository = ({ client, tableName, objects, clock }: ContentRepositoryDeps): ContentRepository => {
  const cache = new Map<string, DispatchContent>();

  const get = async (Key: ItemKey): Promise<Record<string, unknown> | undefined> =>
    (await client.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }))).Item;

  const readObject = async (object: string): Promise<DispatchContent | UnreadableContent> => {
    const bytes = await objects.read(object);
    return typeof bytes === 'string' ? { unreadable: object } : decodeContent(bytes);
  };

  const read = async (dispatchId: string): Promise<DispatchContent | UnreadableContent | 'unknown-dispatch' | 'expired'> => {
    const found = await get(contentKey(dispatchId));
    const item = found && ContentItem.parse(found);
    // TTL deletes days late, so the timestamp decides.
    if (item && (item.expiresAt === undefined || item.expiresAt * 1000 > clock())) {
      return 'object' in item ? readObject(item.object) : decodeContent(item.data);
    }
    return (await get(dispatchKey(dispatchId))) ? 'expired' : 'unknown-dispatch';
  };

  return {
    async find(dispatchId) {
      const kept = cache.get(dispatchId);
      if (kept) return kept;
      try {
        const content = await read(dispatchId);
        if (typeof content === 'string' || 'unreadable' in content) return content;
        const oldest = cache.keys().next();
        if (cache.size >= KEPT && oldest.done !== true) cache.delete(oldest.value);
        cache.set(dispatchId, content);
        return content;
      } catch (error) {
        if (error instanceof Unavailable || isTransient(error)) return 'unavailable';
        if (isAwsError(error)) throw error;
        // Content that cannot be read holds up its own dispatch, not the others of the batch.
        return 'broken';
      }
    },

    async stopUnreadable(dispatchId, { unreadable: object }, now) {
      const item = { key: contentKey(dispatchId), object };
      return (await stopUnreadable({ client, tableName }, dispatchId, item, 'content-unreadable', now)) === 'stopped';
    },
  };
};
