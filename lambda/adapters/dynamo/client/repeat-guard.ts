import { type DynamoDBDocumentClient, GetCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { CreateResult, NewDispatch } from '../../../application/ports/accept.ts';
import type { Instant } from '../../../domain/shared/instant.ts';
import { guardKey } from './keys.ts';

type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** The guard of a content, as it is stored. `expiresAt` is epoch seconds; TTL deletes days later, so it is always compared. */
const GuardItem = z.object({ dispatchId: z.string(), adminId: z.string(), expiresAt: z.number() });

const seconds = (instant: Instant): number => Math.floor(instant / 1000);

/** The write of a new dispatch's guard: on the condition that none stands, unless it overrides one. */
export const guardWrites = (
  tableName: string,
  { dispatch: { dispatchId, adminId, createdAt }, fingerprint, guard }: NewDispatch,
): Write[] => {
  if (guard === undefined) return [];
  const Item = { ...guardKey(fingerprint.whole), dispatchId, adminId, expiresAt: seconds(guard.until) };
  const condition = {
    ConditionExpression: 'attribute_not_exists(pk) OR expiresAt <= :now',
    ExpressionAttributeValues: { ':now': seconds(createdAt) },
  };
  return [{ Put: { TableName: tableName, Item, ...(!guard.overrides && condition) } }];
};

/** The guard that stands against a new dispatch; undefined: none does any more. */
export const findGuard = async (
  client: DynamoDBDocumentClient,
  tableName: string,
  { dispatch: { createdAt }, fingerprint }: NewDispatch,
): Promise<Extract<CreateResult, { outcome: 'guarded' }> | undefined> => {
  const { Item } = await client.send(
    new GetCommand({ TableName: tableName, Key: guardKey(fingerprint.whole), ConsistentRead: true }),
  );
  if (Item === undefined) return undefined;
  const { dispatchId, adminId, expiresAt } = GuardItem.parse(Item);
  return expiresAt <= seconds(createdAt) ? undefined : { outcome: 'guarded', by: { dispatchId, adminId } };
};
