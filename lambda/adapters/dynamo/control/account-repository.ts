import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { AccountRepository } from '../../../application/ports/control.ts';
import type { Account } from '../../../domain/sending/account.ts';
import { toIso } from '../../../domain/shared/instant.ts';
import { controlKey } from '../client/keys.ts';
import { type OnUnreadable, readReplaceable } from '../client/replaceable-item.ts';
import { Iso } from '../recipient/items.ts';
import { isAwsError, isTransient } from '../recipient/statements.ts';

/** `quota` is absent where SES sets no limit. */
const AccountItem = z.object({
  rate: z.number(),
  quota: z.number().exactOptional(),
  sent: z.number(),
  sendingEnabled: z.boolean(),
  fetchedAt: Iso,
});

const Key = controlKey('ACCOUNT');

/** The account item, in the table. */
export const createAccountRepository = (
  client: DynamoDBDocumentClient,
  tableName: string,
  onUnreadable?: OnUnreadable,
): AccountRepository => ({
  async read() {
    try {
      // Not consistent: the item changes every five minutes, and no caller depends on the newest one.
      const { Item } = await client.send(new GetCommand({ TableName: tableName, Key }));
      const account = AccountItem.safeParse(Item).data;
      return account && toAccount(account);
    } catch (error) {
      if (isAwsError(error) && !isTransient(error)) throw error;
      return 'unavailable';
    }
  },

  async store(account) {
    if (await write(client, tableName, account)) return;
    // A later answer is there, or what nobody can read and no later answer replaces.
    const stored = await readReplaceable({ client, tableName, onUnreadable }, Key, AccountItem);
    if (stored === undefined) await write(client, tableName, account);
  },
});

/** @returns false: a later answer is there */
const write = async (
  client: DynamoDBDocumentClient,
  tableName: string,
  { rate, perDay, sentLastDay, sendingEnabled, fetchedAt }: Account,
): Promise<boolean> => {
  try {
    await client.send(
      new UpdateCommand({
        TableName: tableName,
        Key,
        UpdateExpression: `SET rate = :rate, sent = :sent, sendingEnabled = :enabled, fetchedAt = :at${
          perDay === Infinity ? ' REMOVE #quota' : ', #quota = :quota'
        }`,
        ConditionExpression: 'attribute_not_exists(fetchedAt) OR fetchedAt < :at',
        ExpressionAttributeNames: { '#quota': 'quota' },
        ExpressionAttributeValues: {
          ':rate': rate,
          ':sent': sentLastDay,
          ':enabled': sendingEnabled,
          ':at': toIso(fetchedAt),
          ...(perDay !== Infinity && { ':quota': perDay }),
        },
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};

const toAccount = ({ rate, quota = Infinity, sent, sendingEnabled, fetchedAt }: z.output<typeof AccountItem>): Account => ({
  rate,
  perDay: quota,
  sentLastDay: sent,
  sendingEnabled,
  fetchedAt,
});
