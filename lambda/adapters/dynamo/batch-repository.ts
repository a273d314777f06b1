import { DeleteCommand, type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';

import type { BatchRepository } from '../../application/ports.ts';
import { shardOf } from '../../domain/shards.ts';
import { BatchItem, DispatchItem, newRecipientItem } from './items.ts';
import { batchKey, dispatchKey, recipientKey } from './keys.ts';
import { unpackBatch } from './packing.ts';
import { executeAll, type Statement } from './statements.ts';

/** Thrown when recipients of a batch could not be put for now; the task comes again. */
export class ExpansionUnfinishedError extends Error {
  override readonly name = 'ExpansionUnfinishedError';
}

/** The batches of large dispatches in the table. */
export const createBatchRepository = (
  client: DynamoDBDocumentClient,
  tableName: string,
  sleep: (ms: number) => Promise<void>,
): BatchRepository => ({
  async find({ dispatchId, batch }) {
    const get = (Key: Record<string, string>) => client.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }));
    const { Item } = await get({ ...batchKey(dispatchId, batch) });
    if (Item === undefined) return undefined;
    const dispatch = DispatchItem.parse((await get({ ...dispatchKey(dispatchId) })).Item);
    return { addressees: unpackBatch(BatchItem.parse(Item).data), shards: dispatch.shards };
  },

  async putRecipients({ dispatchId }, addressees, shards, now) {
    const inserts = addressees.map(({ applyId, email, variables }) =>
      insert(tableName, {
        ...recipientKey({ dispatchId, shard: shardOf(applyId, shards), applyId }),
        ...newRecipientItem(email, variables, now),
      }),
    );
    const results = await executeAll(client, inserts, sleep);
    const open = results.filter(({ outcome }) => outcome !== 'done' && outcome !== 'exists').length;
    if (open > 0) throw new ExpansionUnfinishedError(`${open} recipients could not be put`);
  },

  async remove({ dispatchId, batch }) {
    await client.send(new DeleteCommand({ TableName: tableName, Key: batchKey(dispatchId, batch) }));
  },
});

/** INSERT fails on a key that is there, so a recipient that was sent already is never put back to PENDING. */
const insert = (tableName: string, item: Record<string, unknown>): Statement => {
  const attributes = Object.entries(item);
  return {
    text: `INSERT INTO "${tableName}" VALUE {${attributes.map(([name]) => `'${name}': ?`).join(', ')}}`,
    parameters: attributes.map(([, value]) => value),
  };
};
