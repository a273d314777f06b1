import { DeleteCommand, type DynamoDBDocumentClient, paginateQuery, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { LedgerPage, UnclearLedger } from '../../../application/ports/control.ts';
import { shardOf } from '../../../domain/dispatch/shards.ts';
import type { UnclearAttempt } from '../../../domain/recipient/unclear.ts';
import { toIso } from '../../../domain/shared/instant.ts';
import { type ItemKey, unclearPartition } from '../client/keys.ts';
import { Count, Iso } from './items.ts';

/** A partition takes 1,000 writes a second: if every answer at 5,000 mails a second is lost, each of these gets 625. */
const SHARDS = 8;

const PAGE = 200;
const AT_ONCE = 25;

const LedgerItem = z
  .object({
    dispatchId: z.string(),
    shard: Count,
    applyId: z.string(),
    lease: z.string(),
    dueAt: Iso,
    // What a walk found out is found out again: an attempt whose notes cannot be read waits anew.
    notedAt: z.number().optional().catch(undefined),
    silentAt: Iso.optional().catch(undefined),
    retryAt: Iso.optional().catch(undefined),
  })
  .transform(({ dispatchId, shard, applyId, lease, dueAt, notedAt, silentAt, retryAt }): UnclearAttempt => ({
    key: { dispatchId, shard, applyId },
    lease,
    dueAt,
    ...(notedAt !== undefined && { notedAt }),
    ...(silentAt !== undefined && { silentAt }),
    ...(retryAt !== undefined && { retryAt }),
  }));

type Noted = Pick<UnclearAttempt, 'key' | 'lease' | 'dueAt'>;

/** By the row and its lease alone: whoever notes the same attempt writes the same item. */
export const ledgerKey = ({ key: { dispatchId, shard, applyId }, lease, dueAt }: Noted): ItemKey => ({
  pk: unclearPartition(shardOf(`${dispatchId}#${applyId}`, SHARDS)),
  sk: `${toIso(dueAt)}#${dispatchId}#${shard}#${applyId}#${lease}`,
});

/** The ledger of unclear attempts in the table, sorted by the end of their leases. */
export const createUnclearLedger = (client: DynamoDBDocumentClient, TableName: string): UnclearLedger => ({
  async add(attempts) {
    const stands: boolean[] = [];
    for (let from = 0; from < attempts.length; from += AT_ONCE) {
      const some = attempts.slice(from, from + AT_ONCE);
      // Whatever went wrong, the caller keeps the message that brings the attempt here again.
      stands.push(
        ...(await Promise.all(
          some.map((attempt) =>
            put(client, TableName, attempt).then(
              () => true,
              () => false,
            ),
          ),
        )),
      );
    }
    return stands;
  },

  async *due(now, after) {
    const [start = 0, startAfter] = parsePosition(after);
    for (let shard = start; shard < SHARDS; shard += 1) {
      const pages = paginateQuery(
        { client, pageSize: PAGE, ...(shard === start && startAfter !== undefined && { startingToken: startAfter }) },
        {
          TableName,
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :pk AND sk < :end',
          // After every item that is due by now: the sign that follows "#".
          ExpressionAttributeValues: { ':pk': unclearPartition(shard), ':end': `${toIso(now)}$` },
        },
      );
      for await (const { Items = [], LastEvaluatedKey } of pages) {
        yield* divide(shard, Items, LastEvaluatedKey === undefined ? `${shard + 1}` : positionOf(shard, LastEvaluatedKey));
      }
    }
  },

  async note(attempt) {
    const { notedAt, silentAt, retryAt } = attempt;
    const set = {
      ...(notedAt !== undefined && { notedAt }),
      ...(silentAt !== undefined && { silentAt: toIso(silentAt) }),
      ...(retryAt !== undefined && { retryAt: toIso(retryAt) }),
    };
    const names = Object.keys(set);
    if (names.length === 0) return;
    await client
      .send(
        new UpdateCommand({
          TableName,
          Key: ledgerKey(attempt),
          UpdateExpression: `SET ${names.map((name) => `${name} = :${name}`).join(', ')}`,
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: Object.fromEntries(Object.entries(set).map(([name, value]) => [`:${name}`, value])),
        }),
      )
      .catch(ignoreRemoved);
  },

  async remove(attempt) {
    await client.send(new DeleteCommand({ TableName, Key: ledgerKey(attempt) }));
  },

  async size() {
    const shards = Array.from({ length: SHARDS }, (_, shard) => countShard(client, TableName, shard));
    return (await Promise.all(shards)).reduce((sum, count) => sum + count, 0);
  },
});

type Stored = Readonly<Record<string, unknown>>;

const positionOf = (shard: number, item: Stored): string => `${shard}/${String(item['sk'])}`;

/** What one read found, in the parts that a walk handles at once: it can end after each of them. */
function* divide(shard: number, found: readonly Stored[], end: string): Generator<LedgerPage> {
  for (let from = 0; from === 0 || from < found.length; from += AT_ONCE) {
    const part = found.slice(from, from + AT_ONCE);
    const last = from + AT_ONCE < found.length ? part.at(-1) : undefined;
    const items = part.flatMap((item) => LedgerItem.safeParse(item).data ?? []);
    yield { items, unreadable: part.length - items.length, position: last === undefined ? end : positionOf(shard, last) };
  }
}

/** Sets nothing that a walk has noted, so an item that is there already stays as it is. */
const put = async (client: DynamoDBDocumentClient, TableName: string, attempt: Noted): Promise<void> => {
  const { key, lease, dueAt } = attempt;
  const set = { ...key, lease, dueAt: toIso(dueAt) };
  await client.send(
    new UpdateCommand({
      TableName,
      Key: ledgerKey(attempt),
      UpdateExpression: `SET ${Object.keys(set)
        .map((name) => `#${name} = :${name}`)
        .join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(Object.keys(set).map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: Object.fromEntries(Object.entries(set).map(([name, value]) => [`:${name}`, value])),
    }),
  );
};

const countShard = async (client: DynamoDBDocumentClient, TableName: string, shard: number): Promise<number> => {
  let count = 0;
  const pages = paginateQuery(
    { client },
    {
      TableName,
      Select: 'COUNT',
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': unclearPartition(shard) },
    },
  );
  for await (const { Count: some = 0 } of pages) count += some;
  return count;
};

/** A walk that starts from a position that is no key of this table begins that shard anew. */
const parsePosition = (position: string | undefined): [shard?: number, startAfter?: ItemKey] => {
  const [, digits, sk] = /^(\d+)(?:\/(.+))?$/s.exec(position ?? '') ?? [];
  const shard = Number(digits ?? 0);
  return sk === undefined ? [shard] : [shard, { pk: unclearPartition(shard), sk }];
};

/** Another walk took it off the ledger. */
const ignoreRemoved = (error: unknown): void => {
  if (!(error instanceof Error && error.name === 'ConditionalCheckFailedException')) throw error;
};
