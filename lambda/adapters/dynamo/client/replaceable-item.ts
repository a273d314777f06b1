import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type * as z from 'zod';

import type { ItemKey } from './keys.ts';
import { updateOf } from './update.ts';

/** Names an item that no version of this code wrote, for logs. Must not throw. */
export type OnUnreadable = (item: string) => void;

export interface ReplaceableItemDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly onUnreadable?: OnUnreadable | undefined;
}

/** Each try follows a write of another function. */
const TRIES = 3;

/**
 * Reads an item whose values are written again anyway. Attributes that no version of this code wrote are removed from the
 * table: otherwise no condition on them would ever hold, and nobody could replace them.
 * @returns undefined: there is no item, or what is left of it says nothing
 */
export const readReplaceable = async <S extends z.ZodObject>(
  { client, tableName, onUnreadable }: ReplaceableItemDeps,
  Key: ItemKey,
  schema: S,
): Promise<z.output<S> | undefined> => {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const { Item } = await client.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }));
    const unreadable = Item && unreadableOf(schema, Item);
    if (Item === undefined || unreadable === undefined) return Item && schema.safeParse(Item).data;
    try {
      const none = Object.fromEntries(Object.keys(unreadable).map((name) => [name, undefined]));
      await client.send(new UpdateCommand(updateOf(tableName, Key, none, unreadable)));
      onUnreadable?.(`${Key.pk.split('#', 1).join('')} ${Key.sk.split('#', 1).join('')}`);
      return schema.safeParse(Object.fromEntries(Object.entries(Item).filter(([name]) => !Object.hasOwn(unreadable, name)))).data;
    } catch (error) {
      // It was replaced meanwhile.
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  }
  return undefined;
};

/** The attributes that the schema does not allow; undefined: none. */
const unreadableOf = (schema: z.ZodObject, item: Record<string, unknown>): Record<string, unknown> | undefined => {
  const issues = schema.safeParse(item).error?.issues ?? [];
  const names = new Set(issues.map(({ path: [name] }) => String(name)).filter((name) => Object.hasOwn(item, name)));
  return names.size === 0 ? undefined : Object.fromEntries([...names].map((name) => [name, item[name]]));
};
