import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import { Unavailable } from '../../../application/ports/errors.ts';
import type { ObjectReader, ObjectRemover } from '../../../application/ports/objects.ts';
import type { BatchKey } from '../../../application/ports/queues.ts';
import type { Random, Sleep } from '../../../application/ports/system.ts';
import type { BatchRepository } from '../../../application/ports/tasks.ts';
import { BATCH_PREFIX } from '../../../contracts/table-keys.ts';
import { decodeBatch } from '../client/codec.ts';
import { batchKey, dispatchKey, type ItemKey, parseKey } from '../client/keys.ts';
import { orUnavailable, retryAfter } from '../client/or-unavailable.ts';
import { pendingItems } from '../client/pending-items.ts';
import { putNewRecipients } from '../recipient/insert-recipients.ts';
import { BatchItem, Count, DispatchItem } from '../recipient/items.ts';
import { stopUnreadable } from './stop-unreadable.ts';

export interface BatchRepositoryDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly objects: ObjectReader & ObjectRemover;
  readonly random: Random;
  readonly sleep: Sleep;
}

const Left = z.object({ pk: z.string(), sk: z.string(), count: Count });

/** The batches of large dispatches: small items in the table, which name the objects that hold the recipients. */
export const createBatchRepository = (deps: BatchRepositoryDeps): BatchRepository => ({
  find: ({ dispatchId, batch }) =>
    orUnavailable(async () => {
      const found = await get(deps, batchKey(dispatchId, batch));
      if (found === undefined) return undefined;
      const { shards, status } = DispatchItem.parse(await get(deps, dispatchKey(dispatchId)));
      return { ...BatchItem.parse(found), shards, status };
    }),

  async recipients({ object }) {
    const bytes = await deps.objects.read(object);
    return typeof bytes === 'string' ? 'unreadable' : decodeBatch(bytes);
  },

  putRecipients: ({ dispatchId }, recipientInputs, shards, now, hasTime) =>
    putNewRecipients(deps, { dispatchId, shards }, recipientInputs, now, hasTime),

  async remove({ dispatchId, batch }, { object }) {
    await orUnavailable(() =>
      deps.client.send(new DeleteCommand({ TableName: deps.tableName, Key: batchKey(dispatchId, batch) })),
    );
    // Nothing names it any more, so whatever keeps it from being deleted now, the sweeper deletes it later.
    await deps.objects.remove(object).catch(() => undefined);
  },

  drop: (key, count) => drop(deps, key, count),

  left: (dispatchId) =>
    orUnavailable(async () => {
      const items = await pendingItems(deps, dispatchId, BATCH_PREFIX);
      return items.flatMap((item) => {
        const { count, ...stored } = Left.parse(item);
        const key = parseKey(stored);
        return key?.kind === 'batch' ? [{ dispatchId, batch: key.batch, count }] : [];
      });
    }),

  stopUnreadable: ({ dispatchId, batch }, { object }, now) =>
    stopUnreadable(deps, dispatchId, { key: batchKey(dispatchId, batch), object }, 'recipients-unreadable', now),
});

const get = async ({ client, tableName }: BatchRepositoryDeps, Key: ItemKey): Promise<Record<string, unknown> | undefined> =>
  (await client.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }))).Item;

const FAILED = 'ConditionalCheckFailed';

const drop = ({ client, tableName: TableName }: BatchRepositoryDeps, { dispatchId, batch }: BatchKey, count: number) =>
  orUnavailable(async () => {
    try {
      await client.send(
        new TransactWriteCommand({
          TransactItems: [
            { Delete: { TableName, Key: batchKey(dispatchId, batch), ConditionExpression: 'attribute_exists(pk)' } },
            { Update: countCancelled(TableName, dispatchId, count) },
          ],
        }),
      );
      return true;
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const [ofBatch, ofDispatch] = (error.CancellationReasons ?? []).map(({ Code }) => Code);
      if (ofBatch === FAILED) return false;
      if (ofDispatch === FAILED) return dropUncounted(client, TableName, { dispatchId, batch });
      throw new Unavailable('the table', retryAfter(error), error);
    }
  });

/** A dispatch without counts is counted by its rows. */
const dropUncounted = async (client: DynamoDBDocumentClient, TableName: string, { dispatchId, batch }: BatchKey) => {
  await client.send(new DeleteCommand({ TableName, Key: batchKey(dispatchId, batch) }));
  return true;
};

/** They were counted as PENDING at accept. The version keeps a count of the rows made before from replacing this one. */
const countCancelled = (TableName: string, dispatchId: string, count: number) => ({
  TableName,
  Key: dispatchKey(dispatchId),
  UpdateExpression:
    'SET #counts.#pending = #counts.#pending - :count, #counts.#cancelled = #counts.#cancelled + :count ' +
    'ADD unexpanded :count, countsVersion :one',
  ConditionExpression: '#status = :cancelledStatus AND attribute_exists(#counts)',
  ExpressionAttributeNames: { '#counts': 'counts', '#pending': 'PENDING', '#cancelled': 'CANCELLED', '#status': 'status' },
  ExpressionAttributeValues: { ':count': count, ':one': 1, ':cancelledStatus': 'CANCELLED' },
});
