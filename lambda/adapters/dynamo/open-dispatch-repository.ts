import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { OpenDispatchRepository, RowsSeen, SweepMarks } from '../../application/ports.ts';
import { addCounts, type Counts, type Dispatch, NO_COUNTS, outcomeOf } from '../../domain/dispatch.ts';
import { expiryAfter, type Instant, toIso } from '../../domain/instant.ts';
import { countRowGlances, DispatchItem, GLANCE, RowGlance } from './items.ts';
import {
  BATCH_PREFIX,
  contentKey,
  dispatchKey,
  dispatchPartition,
  OPEN,
  parseKey,
  RECIPIENT_PREFIX,
  shardPartition,
} from './keys.ts';

export interface OpenDispatchRepositoryDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly openIndex: string;
  /** How long the content of a finished dispatch is kept. */
  readonly retentionDays: number;
}

const Key = z.object({ pk: z.string(), sk: z.string() });

/** The dispatches that are not finished, by the sparse index that holds nothing else. */
export const createOpenDispatchRepository = (deps: OpenDispatchRepositoryDeps): OpenDispatchRepository => ({
  open: () => open(deps),

  async batches(dispatchId) {
    const items = await queryAll(deps, {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :batch)',
      ExpressionAttributeValues: { ':pk': dispatchPartition(dispatchId), ':batch': BATCH_PREFIX },
      ProjectionExpression: 'pk, sk',
    });
    return items.flatMap((item) => {
      const key = parseKey(Key.parse(item));
      return key?.kind === 'batch' ? [{ dispatchId, batch: key.batch }] : [];
    });
  },

  async rows({ dispatchId, shards }, now) {
    const seen: RowsSeen[] = [];
    for (let shard = 0; shard < shards; shard += 1) seen.push(await rowsOfShard(deps, shardPartition(dispatchId, shard), now));
    return {
      counts: seen.reduce((sum, { counts }) => addCounts(sum, counts), NO_COUNTS),
      overdue: seen.flatMap(({ overdue }) => overdue).sort((a, b) => a.since - b.since),
    };
  },

  async mark(dispatchId, { counts, lastProgressAt, visitedAt }) {
    try {
      await deps.client.send(
        new UpdateCommand({
          TableName: deps.tableName,
          Key: dispatchKey(dispatchId),
          UpdateExpression: 'SET #counts = :counts, lastProgressAt = :progress, visitedAt = :visited',
          ConditionExpression: 'openKey = :open',
          ExpressionAttributeNames: { '#counts': 'counts' },
          ExpressionAttributeValues: {
            ':counts': counts,
            ':progress': toIso(lastProgressAt),
            ':visited': toIso(visitedAt),
            ':open': OPEN,
          },
        }),
      );
    } catch (error) {
      // Completed, or gone, since it was read: what was seen is out of date.
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  },

  complete: (dispatch, counts, now) => complete(deps, dispatch, counts, now),
});

async function* open({
  client,
  tableName,
  openIndex,
}: OpenDispatchRepositoryDeps): AsyncGenerator<(Dispatch & SweepMarks) | 'unreadable'> {
  const pages = paginateQuery(
    { client },
    {
      TableName: tableName,
      IndexName: openIndex,
      KeyConditionExpression: 'openKey = :open',
      ExpressionAttributeValues: { ':open': OPEN },
    },
  );
  for await (const { Items = [] } of pages) {
    for (const item of Items) {
      const { pk, sk } = Key.parse(item);
      // The index lags behind and holds keys alone; the item itself says how things stand.
      const { Item } = await client.send(new GetCommand({ TableName: tableName, Key: { pk, sk }, ConsistentRead: true }));
      if (Item?.['openKey'] === OPEN) yield DispatchItem.safeParse(Item).data ?? 'unreadable';
    }
  }
}

interface Query {
  readonly KeyConditionExpression: string;
  readonly ExpressionAttributeValues: Record<string, string>;
  readonly ProjectionExpression: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
}

const queryAll = async ({ client, tableName }: OpenDispatchRepositoryDeps, query: Query): Promise<Record<string, unknown>[]> => {
  const items: Record<string, unknown>[] = [];
  for await (const page of paginateQuery({ client }, { TableName: tableName, ConsistentRead: true, ...query }))
    items.push(...(page.Items ?? []));
  return items;
};

const rowsOfShard = async (deps: OpenDispatchRepositoryDeps, pk: string, now: Instant): Promise<RowsSeen> => {
  const rows = (
    await queryAll(deps, {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :recipient)',
      ExpressionAttributeValues: { ':pk': pk, ':recipient': RECIPIENT_PREFIX },
      ...GLANCE,
    })
  ).flatMap((item) => RowGlance.safeParse(item).data ?? []);
  const overdue = rows.flatMap((row) => {
    const key = parseKey(row);
    if (key?.kind !== 'recipient') return [];
    const since = row.status === 'PROCESSING' ? row.leaseUntil : row.status === 'PENDING' ? row.nextAttemptAt : undefined;
    const { dispatchId, shard, applyId } = key;
    return since !== undefined && since <= now ? [{ key: { dispatchId, shard, applyId }, since }] : [];
  });
  return { counts: countRowGlances(rows), overdue };
};

const complete = async (
  { client, tableName, retentionDays }: OpenDispatchRepositoryDeps,
  dispatch: Dispatch,
  counts: Counts,
  now: Instant,
) => {
  try {
    await client.send(
      new TransactWriteCommand({
        TransactItems: [
          {
            Update: {
              TableName: tableName,
              Key: dispatchKey(dispatch.dispatchId),
              UpdateExpression:
                'SET #status = :completed, completedAt = :now, outcome = :outcome, #counts = :counts, lastProgressAt = :now REMOVE openKey',
              // A recipient reopened since the dispatch was read has raised the generation.
              ConditionExpression: 'generation = :generation AND #status IN (:accepted, :inProgress)',
              ExpressionAttributeNames: { '#status': 'status', '#counts': 'counts' },
              ExpressionAttributeValues: {
                ':completed': 'COMPLETED',
                ':now': toIso(now),
                ':outcome': outcomeOf(counts),
                ':counts': counts,
                ':generation': dispatch.generation,
                ':accepted': 'ACCEPTED',
                ':inProgress': 'IN_PROGRESS',
              },
            },
          },
          {
            Update: {
              TableName: tableName,
              Key: contentKey(dispatch.dispatchId),
              UpdateExpression: 'SET expiresAt = :expiry',
              ConditionExpression: 'attribute_exists(pk)',
              ExpressionAttributeValues: { ':expiry': expiryAfter(now, retentionDays) },
            },
          },
        ],
      }),
    );
    return true;
  } catch (error) {
    // Reopened, or changed by somebody else meanwhile: the next pass looks again.
    if (error instanceof TransactionCanceledException) return false;
    throw error;
  }
};
