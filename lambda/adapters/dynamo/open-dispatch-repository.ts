import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, paginateQuery, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { OpenDispatchRepository, RowsSeen, SweepMarks } from '../../application/ports.ts';
import { addCounts, type Dispatch, NO_COUNTS } from '../../domain/dispatch.ts';
import { type Instant, toIso } from '../../domain/instant.ts';
import { closeDispatch, completeDispatch, type FinishDeps } from './finish-dispatch.ts';
import { DispatchItem } from './items.ts';
import { BATCH_PREFIX, dispatchKey, dispatchPartition, OPEN, parseKey, shardPartition, TASK_PREFIX } from './keys.ts';
import { countRowGlances, endedAt, glanceAtShard, type RowGlance } from './row-glance.ts';
import { stopDispatch } from './stop.ts';

export interface OpenDispatchRepositoryDeps extends FinishDeps {
  readonly openIndex: string;
}

const Key = z.object({ pk: z.string(), sk: z.string() });
const Task = Key.extend({ state: z.string().exactOptional() });

/** The dispatches that are not finished, by the sparse index that holds nothing else. */
export const createOpenDispatchRepository = (deps: OpenDispatchRepositoryDeps): OpenDispatchRepository => ({
  open: () => open(deps),

  async batches(dispatchId) {
    const items = await itemsOf(deps, dispatchId, BATCH_PREFIX);
    return items.flatMap((item) => {
      const key = parseKey(Key.parse(item));
      return key?.kind === 'batch' ? [{ dispatchId, batch: key.batch }] : [];
    });
  },

  async tasks(dispatchId) {
    const items = await itemsOf(deps, dispatchId, TASK_PREFIX);
    return items.flatMap((item) => {
      const { state, ...key } = Task.parse(item);
      const parsed = parseKey(key);
      return parsed?.kind === 'task' && state !== 'done' ? [{ dispatchId, task: parsed.task }] : [];
    });
  },

  async rows({ dispatchId, shards }, now) {
    const seen: RowsSeen[] = [];
    for (let shard = 0; shard < shards; shard += 1) {
      const rows = await glanceAtShard(deps.client, deps.tableName, shardPartition(dispatchId, shard));
      seen.push({ counts: countRowGlances(rows), overdue: rows.flatMap((row) => overdue(row, now)), ...newest(rows) });
    }
    return {
      counts: seen.reduce((sum, { counts }) => addCounts(sum, counts), NO_COUNTS),
      overdue: seen.flatMap((ofShard) => ofShard.overdue).sort((a, b) => a.since - b.since),
      ...latest(
        'newestSentAt',
        seen.map((ofShard) => ofShard.newestSentAt),
      ),
      ...latest(
        'newestOutcomeAt',
        seen.map((ofShard) => ofShard.newestOutcomeAt),
      ),
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

  complete: (dispatch, counts, now) => completeDispatch(deps, dispatch, counts, now),
  close: (dispatch, counts, now) => closeDispatch(deps, dispatch, counts, now),
  stop: (dispatch, stop, now) => stopDispatch(deps, dispatch, stop, now),
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

/** Batches or tasks of a dispatch, read consistently. */
const itemsOf = async (
  { client, tableName }: OpenDispatchRepositoryDeps,
  dispatchId: string,
  prefix: string,
): Promise<Record<string, unknown>[]> => {
  const items: Record<string, unknown>[] = [];
  const query = {
    TableName: tableName,
    ConsistentRead: true,
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': dispatchPartition(dispatchId), ':prefix': prefix },
    ProjectionExpression: 'pk, sk, #state',
    ExpressionAttributeNames: { '#state': 'state' },
  };
  for await (const { Items = [] } of paginateQuery({ client }, query)) items.push(...Items);
  return items;
};

const overdue = (row: RowGlance, now: Instant): RowsSeen['overdue'] => {
  const key = parseKey(row);
  if (key?.kind !== 'recipient' || (row.status !== 'PENDING' && row.status !== 'PROCESSING')) return [];
  const since = row.status === 'PENDING' ? row.nextAttemptAt : row.leaseUntil;
  if (since === undefined || since > now) return [];
  const { dispatchId, shard, applyId } = key;
  return [{ key: { dispatchId, shard, applyId }, since, status: row.status }];
};

const newest = (rows: readonly RowGlance[]): Pick<RowsSeen, 'newestSentAt' | 'newestOutcomeAt'> => ({
  ...latest(
    'newestSentAt',
    rows.map(({ status, sentAt }) => (status === 'SENT' ? sentAt : undefined)),
  ),
  ...latest('newestOutcomeAt', rows.map(endedAt)),
});

const latest = (name: 'newestSentAt' | 'newestOutcomeAt', instants: readonly (Instant | undefined)[]) => {
  const known = instants.filter((instant) => instant !== undefined);
  return known.length === 0 ? {} : { [name]: known.reduce((a, b) => Math.max(a, b)) };
};
