import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import { CONTROL_PARTITION, DISPATCH_PREFIX, DISPATCH_SORT_KEY, RECIPIENT_PREFIX } from '../lambda/contracts/table-keys.ts';
import { CREDENTIALS } from './clients.ts';
import { REGION } from './cloudformation/types/identity.ts';
import type { StackFile } from './stack-file.ts';

/** A recipient as it lies in the table, read without the product's own code. */
export const RawRow = z.looseObject({
  pk: z.string(),
  sk: z.string(),
  email: z.string(),
  status: z.string(),
  round: z.number(),
  attemptCount: z.number(),
  messageId: z.string().optional(),
  lastErrorCode: z.string().optional(),
  nextAttemptAt: z.string().optional(),
  delivery: z.string().optional(),
  attempts: z.array(
    z.looseObject({
      round: z.number().optional(),
      lease: z.string(),
      outcome: z.string().optional(),
      code: z.string().optional(),
      messageId: z.string().optional(),
    }),
  ),
  events: z.array(z.looseObject({ kind: z.string(), messageId: z.string() })).default([]),
});
export type RawRow = z.output<typeof RawRow>;

const RawDispatch = z.looseObject({ status: z.string(), shards: z.number(), total: z.number() });
const Raw = z.record(z.string(), z.unknown());

/** The id that the client gave the recipient of a row. */
export const applyIdOf = ({ sk }: Pick<RawRow, 'sk'>): string => sk.slice(RECIPIENT_PREFIX.length);

/** The table of a running stack, seen from outside, by a client of its own. */
export const openTable = ({ dynamodb, tableName: TableName }: Pick<StackFile, 'dynamodb' | 'tableName'>) => {
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({ endpoint: dynamodb, region: REGION, credentials: CREDENTIALS }),
  );
  const get = async (pk: string, sk: string): Promise<unknown> =>
    (await client.send(new GetCommand({ TableName, Key: { pk, sk }, ConsistentRead: true }))).Item;

  const shard = async (pk: string): Promise<RawRow[]> => {
    const rows: RawRow[] = [];
    let from: Record<string, unknown> | undefined;
    do {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName,
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :pk AND begins_with(sk, :row)',
          ExpressionAttributeValues: { ':pk': pk, ':row': RECIPIENT_PREFIX },
          ...(from && { ExclusiveStartKey: from }),
        }),
      );
      rows.push(...Items.map((item) => RawRow.parse(item)));
      from = LastEvaluatedKey;
    } while (from !== undefined);
    return rows;
  };
  const dispatch = async (id: string) => RawDispatch.parse(await get(`${DISPATCH_PREFIX}${id}`, DISPATCH_SORT_KEY));
  return {
    dispatch,
    /** All rows of a dispatch, shard by shard. */
    rows: async (id: string): Promise<RawRow[]> => {
      const { shards } = await dispatch(id);
      const each = await Promise.all(Array.from({ length: shards }, (_, n) => shard(`${DISPATCH_PREFIX}${id}#${n}`)));
      return each.flat();
    },
    /** What is kept about the whole service; undefined: nothing yet. */
    control: async (name: 'SENDING' | 'FEEDBACK' | 'SWEEPER') => Raw.optional().parse(await get(CONTROL_PARTITION, name)),
    close: () => {
      client.destroy();
    },
  };
};
