import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { RecipientPosition } from '../../../application/ports/queries.ts';
import type { StoredRecipient } from '../../../application/ports/recipients.ts';
import type { Clock } from '../../../application/ports/system.ts';
import type { TaskProgress, TaskRepository, TaskRow } from '../../../application/ports/tasks.ts';
import { RECIPIENT_PREFIX } from '../../../contracts/table-keys.ts';
import type { RecipientStatus } from '../../../domain/recipient/recipient.ts';
import { toIso } from '../../../domain/shared/instant.ts';
import { isExpired } from '../client/expiry.ts';
import { dispatchKey, type ItemKey, parseKey, recipientKey, shardPartition, taskKey } from '../client/keys.ts';
import { updateOf } from '../client/update.ts';
import { DispatchItem, parseRecipientItem } from '../recipient/items.ts';
import { TaskItem } from './task-item.ts';

/** So many are worked on between two moves of the cursor; with their longest variables they fill one answer. */
const ROWS_PER_PAGE = 200;

/** Nothing is done about these but writing them down. */
const ROWS_TO_EXPORT = 1_000;

const Key = z.object({ pk: z.string(), sk: z.string() });

/** Tasks in the table, and the rows they go through; those that have expired are left out. */
export const createTaskRepository = (client: DynamoDBDocumentClient, tableName: string, clock: Clock): TaskRepository => {
  const get = async (key: ItemKey): Promise<Record<string, unknown> | undefined> =>
    (await client.send(new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true }))).Item;

  const kept = (items: readonly Record<string, unknown>[]) => items.filter((item) => !isExpired(item, clock()));

  return {
    async find(key) {
      const item = await get(taskKey(key));
      if (item === undefined) return undefined;
      const { state, ...task } = TaskItem.parse(item);
      return state === 'open' ? task : undefined;
    },

    async dispatch(dispatchId) {
      const item = await get(dispatchKey(dispatchId));
      return item && DispatchItem.parse(item);
    },

    async rows({ dispatchId, shards }, statuses, { shard, after }) {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({
          TableName: tableName,
          ConsistentRead: true,
          ...ofShard(dispatchId, shard, statuses, after),
          Limit: ROWS_PER_PAGE,
        }),
      );
      const next = nextPosition(LastEvaluatedKey, shard, shards);
      return { rows: kept(Items).flatMap(toRow), ...(next !== undefined && { next }) };
    },

    async wholeRows({ dispatchId, shards }, statuses, { shard, after }) {
      const { Items = [], LastEvaluatedKey } = await client.send(
        new QueryCommand({ TableName: tableName, ...ofShard(dispatchId, shard, statuses, after), Limit: ROWS_TO_EXPORT }),
      );
      const next = nextPosition(LastEvaluatedKey, shard, shards);
      return { rows: kept(Items).map(wholeRow), ...(next !== undefined && { next }) };
    },

    async advance(key, task, next, step, more) {
      const isNoteLeft = next === undefined && task.word !== undefined;
      const set = {
        ...(next === undefined ? { state: 'done' } : { cursor: next }),
        // A note may say anything: it is in the rows it is about, and leaves the task with its end.
        ...(isNoteLeft && { word: undefined }),
        ...(more && attributesOf(more)),
      };
      try {
        await client.send(
          new UpdateCommand(updateOf(tableName, taskKey(key), { ...set, step }, { state: 'open', step: task.step })),
        );
        return true;
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        // Our own write, repeated by the SDK after its answer was lost, finds itself.
        return (await get(taskKey(key)))?.['step'] === step;
      }
    },
  };
};

const attributesOf = ({ parts, written, doneAt }: TaskProgress) => ({
  parts,
  written,
  ...(doneAt !== undefined && { doneAt: toIso(doneAt) }),
});

/** A shard without rows is not the end: the last shard is. */
const nextPosition = (
  lastKey: Record<string, unknown> | undefined,
  shard: number,
  shards: number,
): RecipientPosition | undefined => {
  if (lastKey === undefined) return shard + 1 < shards ? { shard: shard + 1 } : undefined;
  const key = parseKey(Key.parse(lastKey));
  if (key?.kind !== 'recipient') throw new Error('a shard ended with something that is no recipient');
  return { shard, after: key.applyId };
};

/** Rows of a shard, in any state or one of these. */
const ofShard = (
  dispatchId: string,
  shard: number,
  statuses: readonly RecipientStatus[] | undefined,
  after: string | undefined,
) => ({
  KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
  ...(statuses && {
    FilterExpression: `#status IN (${statuses.map((_, i) => `:s${i}`).join(', ')})`,
    ExpressionAttributeNames: { '#status': 'status' },
  }),
  ExpressionAttributeValues: {
    ':pk': shardPartition(dispatchId, shard),
    ':prefix': RECIPIENT_PREFIX,
    ...(statuses && Object.fromEntries(statuses.map((status, i) => [`:s${i}`, status]))),
  },
  ...(after !== undefined && { ExclusiveStartKey: recipientKey({ dispatchId, shard, applyId: after }) }),
});

const wholeRow = (item: Record<string, unknown>): StoredRecipient | 'broken' => {
  try {
    return parseRecipientItem(item);
  } catch {
    return 'broken';
  }
};

const toRow = (item: Record<string, unknown>): TaskRow[] => {
  const key = parseKey(Key.parse(item));
  if (key?.kind !== 'recipient') return [];
  const { dispatchId, shard, applyId } = key;
  return [{ key: { dispatchId, shard, applyId }, recipient: recipientOf(item) }];
};

const recipientOf = (item: unknown): TaskRow['recipient'] => {
  try {
    return parseRecipientItem(item).recipient;
  } catch {
    // One row that cannot be read must not hold up all others.
    return 'broken';
  }
};
