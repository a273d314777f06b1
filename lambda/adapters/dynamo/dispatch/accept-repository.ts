import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { AcceptRepository, CreateResult, KnownDispatch, NewDispatch } from '../../../application/ports/accept.ts';
import { Unavailable } from '../../../application/ports/errors.ts';
import type { ObjectWriter } from '../../../application/ports/objects.ts';
import type { Clock, NewId, Random, Sleep } from '../../../application/ports/system.ts';
import { retry } from '../../../domain/shared/retry.ts';
import { dispatchKey } from '../client/keys.ts';
import { orUnavailable, retryAfter } from '../client/or-unavailable.ts';
import { findGuard, guardWrites } from '../client/repeat-guard.ts';
import { DispatchItem } from '../recipient/items.ts';
import { isTransient } from '../recipient/statements.ts';
import { toItems, tooLarge } from './dispatch-items.ts';
import { needsObjects, storeObjects } from './store-objects.ts';

export interface AcceptRepositoryDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  /** Takes long lists and large content. */
  readonly objects: ObjectWriter;
  readonly clock: Clock;
  readonly random: Random;
  readonly sleep: Sleep;
  readonly newId: NewId;
}

/** How long conflicts and throttling are waited out before the client is told to ask again. */
const RETRIES_LAST_MS = 3_000;
const RETRIES = { baseMs: 100, capMs: 800 };

/** What keeps a transaction from being carried out now, and may not the next time. */
const PASSING_REASONS: ReadonlySet<string> = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
]);

const Known = DispatchItem.extend({
  fingerprint: z.string().exactOptional(),
  fieldHashes: z.record(z.string(), z.string()).default({}),
});

/** Dispatches as accept reads and stores them. */
export const createAcceptRepository = (deps: AcceptRepositoryDeps): AcceptRepository => ({
  find: (dispatchId) => find(deps, dispatchId),
  create: (entry) => create(deps, entry),
  tooLarge,
});

const find = async ({ client, tableName }: AcceptRepositoryDeps, dispatchId: string): Promise<KnownDispatch | undefined> => {
  const { Item } = await orUnavailable(() =>
    client.send(new GetCommand({ TableName: tableName, Key: dispatchKey(dispatchId), ConsistentRead: true })),
  );
  if (Item === undefined) return undefined;
  const { fingerprint, fieldHashes, ...dispatch } = Known.parse(Item);
  return { dispatch, fieldHashes, ...(fingerprint !== undefined && { fingerprint }) };
};

const create: (deps: AcceptRepositoryDeps, entry: NewDispatch) => ReturnType<AcceptRepository['create']> = async (
  deps,
  entry,
) => {
  const dispatchItems = toItems(entry);
  if (!dispatchItems.ok) return { outcome: 'too-large', limit: dispatchItems.limit };

  if (needsObjects(dispatchItems) && entry.guard?.overrides === false) {
    // Before the first object: a repetition that the guard refuses must not store 50,000 recipients for it.
    const guarded = await orUnavailable(() => findGuard(deps.client, deps.tableName, entry));
    if (guarded !== undefined) return guarded;
  }
  const items = await storeObjects(deps.objects, entry, dispatchItems);
  const puts = items.map((Item, i) => ({
    Put: { TableName: deps.tableName, Item, ...(i === 0 && { ConditionExpression: 'attribute_not_exists(pk)' }) },
  }));
  const input: TransactWriteCommandInput = {
    TransactItems: [...puts, ...guardWrites(deps.tableName, entry)],
    // Kept over our own retries: a try that was carried out although its answer was lost then counts as done.
    ClientRequestToken: deps.newId(),
  };

  const giveUpAt = deps.clock() + RETRIES_LAST_MS;
  const created = await retry<CreateResult, unknown>(deps, { ...RETRIES, giveUpAt: () => giveUpAt }, async () => {
    const result = await write(deps.client, input, puts.length);
    if (result.done) return { done: true, result: { outcome: 'created' } };
    // Whatever the reason, the dispatch may be there by now: by another request, or by a try of ours whose answer was lost.
    const known = await find(deps, entry.dispatch.dispatchId);
    if (known !== undefined) return { done: true, result: { outcome: 'exists', known } };
    // None: it expired and was deleted this moment, so that the next try gets through.
    const guarded = result.isGuarded ? await orUnavailable(() => findGuard(deps.client, deps.tableName, entry)) : undefined;
    return guarded === undefined ? { done: false, failure: result.cause } : { done: true, result: guarded };
  });
  if (!created.done) throw new Unavailable('the table', retryAfter(created.failure), created.failure);
  return created.result;
};

/** One try. Throws what no repetition will cure. @param guardAt place of the guard in the transaction */
const write = async (
  client: DynamoDBDocumentClient,
  input: TransactWriteCommandInput,
  guardAt: number,
): Promise<{ done: true } | { done: false; isGuarded: boolean; cause: unknown }> => {
  try {
    await client.send(new TransactWriteCommand(input));
    return { done: true };
  } catch (cause) {
    if (!(cause instanceof TransactionCanceledException)) {
      if (isTransient(cause)) return { done: false, isGuarded: false, cause };
      throw cause;
    }
    const codes = (cause.CancellationReasons ?? []).map(({ Code }) => Code ?? 'None');
    // Reasons come in the order of the items: the dispatch's is the first, and if it is there already, nothing else matters.
    const isKnown = codes[0] === FAILED;
    const isGuarded = !isKnown && codes[guardAt] === FAILED;
    const mayPass = codes.every((code) => code === 'None' || PASSING_REASONS.has(code));
    if (isKnown || isGuarded || mayPass) return { done: false, isGuarded, cause };
    throw cause;
  }
};

const FAILED = 'ConditionalCheckFailed';
