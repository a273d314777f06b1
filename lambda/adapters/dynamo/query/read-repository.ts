import { type DynamoDBDocumentClient, GetCommand, paginateQuery, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { ReadRepository, RecipientPage, RecipientPosition, RecipientQuery } from '../../../application/ports/queries.ts';
import type { StoredRecipient } from '../../../application/ports/recipients.ts';
import type { Clock } from '../../../application/ports/system.ts';
import { RECIPIENT_PREFIX } from '../../../contracts/table-keys.ts';
import { addCounts, type Counts, NO_COUNTS, type RowCounts } from '../../../domain/dispatch/dispatch.ts';
import type { LastEnd } from '../../../domain/dispatch/frozen-counts.ts';
import { addRowCounts, NO_CHANGE } from '../../../domain/dispatch/progress.ts';
import type { Instant } from '../../../domain/shared/instant.ts';
import { isExpired } from '../client/expiry.ts';
import { dispatchKey, OPEN, recipientKey, shardPartition } from '../client/keys.ts';
import { orUnavailable } from '../client/or-unavailable.ts';
import { readShards } from '../client/read-shards.ts';
import { DispatchItem, parseRecipientItem } from '../recipient/items.ts';
import { countFrozen, countRowProjections, RowProjection } from '../recipient/row-projection.ts';

/** Rows that one request looks at: with a filter, most may be passed over. */
const ROWS_PER_REQUEST = 10_000;
const ROWS_PER_QUERY = 1_000;
const Counted = RowProjection.pick({ status: true, delivery: true, expiresAt: true, reopenedAfter: true });

/** Dispatches and their recipients as the table has them; rows that have expired are left out. */
export const createReadRepository = (client: DynamoDBDocumentClient, tableName: string, clock: Clock): ReadRepository => ({
  find: (dispatchId) =>
    orUnavailable(async () => {
      const { Item } = await client.send(
        new GetCommand({ TableName: tableName, Key: dispatchKey(dispatchId), ConsistentRead: true }),
      );
      return Item && { ...DispatchItem.parse(Item), isOpen: Item['openKey'] === OPEN };
    }),

  counts: (dispatch) =>
    orUnavailable(async () => {
      const now = clock();
      const shards = await readShards(dispatch, (pk) => countShard(client, tableName, pk, dispatch, now));
      return {
        ...shards.reduce<RowCounts>(addRowCounts, NO_CHANGE),
        frozen: shards.map(({ frozen }) => frozen).reduce(addCounts, NO_COUNTS),
      };
    }),

  recipients: (query) => orUnavailable(() => page(client, tableName, query, clock())),

  recipient: (key) =>
    orUnavailable(async () => {
      const { Item } = await client.send(
        new GetCommand({ TableName: tableName, Key: { ...recipientKey(key) }, ConsistentRead: true }),
      );
      return Item === undefined || isExpired(Item, clock()) ? undefined : parseRecipientItem(Item);
    }),
});

const ofShard = (pk: string) => ({
  KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
  ExpressionAttributeValues: { ':pk': pk, ':prefix': RECIPIENT_PREFIX },
});

const countShard = async (
  client: DynamoDBDocumentClient,
  TableName: string,
  pk: string,
  end: LastEnd,
  now: Instant,
): Promise<RowCounts & { frozen: Counts }> => {
  const rows: z.output<typeof Counted>[] = [];
  const attributes = {
    ProjectionExpression: '#status, delivery, expiresAt, reopenedAfter',
    ExpressionAttributeNames: { '#status': 'status' },
  };
  const pages = paginateQuery({ client }, { TableName, ...ofShard(pk), ...attributes });
  // One that no version of this code wrote is left out, as recovery leaves it out.
  for await (const { Items = [] } of pages)
    rows.push(...Items.filter((item) => !isExpired(item, now)).flatMap((item) => Counted.safeParse(item).data ?? []));
  return { ...countRowProjections(rows), frozen: countFrozen(rows, end) };
};

/** Goes from shard to shard until the page is full. A query that finds nothing is not the end: the last shard is. */
const page = async (
  client: DynamoDBDocumentClient,
  tableName: string,
  query: RecipientQuery,
  now: Instant,
): Promise<RecipientPage> => {
  const recipients: StoredRecipient[] = [];
  let position: RecipientPosition | undefined = query.from.shard < query.dispatch.shards ? query.from : undefined;
  let pendingRows = ROWS_PER_REQUEST;
  while (position !== undefined && recipients.length < query.limit && pendingRows > 0) {
    const part: Part = await readPart(client, tableName, query, position, query.limit - recipients.length, now);
    recipients.push(...part.recipients);
    pendingRows -= part.rows;
    position = part.next;
  }
  return { recipients, ...(position !== undefined && { next: position }) };
};

interface Part {
  readonly recipients: readonly StoredRecipient[];
  readonly next: RecipientPosition | undefined;
  readonly rows: number;
}

const readPart = async (
  client: DynamoDBDocumentClient,
  TableName: string,
  { dispatch: { dispatchId, shards }, status }: RecipientQuery,
  { shard, after }: RecipientPosition,
  wanted: number,
  now: Instant,
): Promise<Part> => {
  const { KeyConditionExpression, ExpressionAttributeValues } = ofShard(shardPartition(dispatchId, shard));
  const {
    Items = [],
    LastEvaluatedKey,
    ScannedCount = 0,
  } = await client.send(
    new QueryCommand({
      TableName,
      KeyConditionExpression,
      ExpressionAttributeValues: { ...ExpressionAttributeValues, ...(status !== undefined && { ':status': status }) },
      ...(status !== undefined && { FilterExpression: '#status = :status', ExpressionAttributeNames: { '#status': 'status' } }),
      ...(after !== undefined && { ExclusiveStartKey: recipientKey({ dispatchId, shard, applyId: after }) }),
      Limit: status === undefined ? wanted : ROWS_PER_QUERY,
    }),
  );
  const found = Items.filter((item) => !isExpired(item, now)).map(parseRecipientItem);
  const recipients = found.slice(0, wanted);
  const rows = ScannedCount;

  const last = recipients.at(-1);
  if (found.length > wanted && last !== undefined) return { recipients, rows, next: { shard, after: last.applyId } };
  if (LastEvaluatedKey !== undefined) return { recipients, rows, next: { shard, after: applyIdOf(LastEvaluatedKey) } };
  return { recipients, rows, next: shard + 1 < shards ? { shard: shard + 1 } : undefined };
};

const applyIdOf = (key: Record<string, unknown>): string =>
  z.string().startsWith(RECIPIENT_PREFIX).parse(key['sk']).slice(RECIPIENT_PREFIX.length);
