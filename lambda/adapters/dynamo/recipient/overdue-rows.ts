import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { OpenDispatchRepository, OpenRowStatus, OverduePosition, OverdueRow } from '../../../application/ports/progress.ts';
import { RECIPIENT_PREFIX } from '../../../contracts/table-keys.ts';
import type { Dispatch } from '../../../domain/dispatch/dispatch.ts';
import type { Instant } from '../../../domain/shared/instant.ts';
import { parseKey, recipientKey, shardPartition } from '../client/keys.ts';
import { overdueSince, RowProjection } from './row-projection.ts';

/** Read per page, so that a pass keeps no more than these in memory. */
const ROWS_PER_PAGE = 1_000;

const Key = z.object({ pk: z.string(), sk: z.string() });

/** Reads a page of the overdue rows of a dispatch, in the order of their keys. */
export const readOverdueRows = async (
  { client, tableName }: { readonly client: DynamoDBDocumentClient; readonly tableName: string },
  { dispatchId, shards }: Pick<Dispatch, 'dispatchId' | 'shards'>,
  statuses: readonly OpenRowStatus[],
  { until, shard, after }: OverduePosition,
): ReturnType<OpenDispatchRepository['overdueRows']> => {
  const { Items = [], LastEvaluatedKey } = await client.send(
    new QueryCommand({
      TableName: tableName,
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :recipient)',
      FilterExpression: `#status IN (${statuses.map((_, i) => `:s${i}`).join(', ')})`,
      ProjectionExpression: 'pk, sk, #status, nextAttemptAt, leaseUntil',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':pk': shardPartition(dispatchId, shard),
        ':recipient': RECIPIENT_PREFIX,
        ...Object.fromEntries(statuses.map((status, i) => [`:s${i}`, status])),
      },
      Limit: ROWS_PER_PAGE,
      ...(after !== undefined && { ExclusiveStartKey: recipientKey({ dispatchId, shard, applyId: after }) }),
    }),
  );
  const rows = Items.flatMap((item) => toOverdueRow(item, until));
  if (LastEvaluatedKey === undefined) return { rows, ...(shard + 1 < shards && { next: { until, shard: shard + 1 } }) };
  const last = parseKey(Key.parse(LastEvaluatedKey));
  if (last?.kind !== 'recipient') throw new Error('a page ended with something that is no recipient');
  return { rows, next: { until, shard, after: last.applyId } };
};

const toOverdueRow = (item: unknown, until: Instant): OverdueRow[] => {
  const row = RowProjection.safeParse(item).data;
  const key = row && parseKey(row);
  const since = row && overdueSince(row, until);
  if (key?.kind !== 'recipient' || since === undefined || (row?.status !== 'PENDING' && row?.status !== 'PROCESSING')) return [];
  const { dispatchId, shard, applyId } = key;
  return [{ key: { dispatchId, shard, applyId }, since, status: row.status }];
};
