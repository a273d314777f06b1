import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import { type AcceptRepository, type KnownDispatch, type NewDispatch, Unavailable } from '../../application/accept-ports.ts';
import type { Clock, NewId, Random, Sleep } from '../../application/ports.ts';
import { layOut } from './dispatch-layout.ts';
import { DispatchItem } from './items.ts';
import { dispatchKey } from './keys.ts';
import { isPassing } from './statements.ts';

export interface AcceptRepositoryDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly sleep: Sleep;
  readonly newId: NewId;
}

/** How long conflicts and throttling are waited out before the client is told to ask again. */
const RETRIES_LAST_MS = 3_000;
const RETRY_MS = 100;
const LONGEST_RETRY_MS = 800;
const RETRY_AFTER_SECONDS = 1;

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
});

const find = async ({ client, tableName }: AcceptRepositoryDeps, dispatchId: string): Promise<KnownDispatch | undefined> => {
  try {
    const { Item } = await client.send(
      new GetCommand({ TableName: tableName, Key: dispatchKey(dispatchId), ConsistentRead: true }),
    );
    if (Item === undefined) return undefined;
    const { fingerprint, fieldHashes, ...dispatch } = Known.parse(Item);
    return { dispatch, fieldHashes, ...(fingerprint !== undefined && { fingerprint }) };
  } catch (error) {
    if (isPassing(error)) throw new Unavailable('the table', RETRY_AFTER_SECONDS, error);
    throw error;
  }
};

const create: (deps: AcceptRepositoryDeps, entry: NewDispatch) => ReturnType<AcceptRepository['create']> = async (
  deps,
  entry,
) => {
  const layout = layOut(entry);
  if (!layout.ok) return { outcome: 'too-large', limit: layout.limit };

  const input: TransactWriteCommandInput = {
    TransactItems: layout.items.map((Item, i) => ({
      Put: { TableName: deps.tableName, Item, ...(i === 0 && { ConditionExpression: 'attribute_not_exists(pk)' }) },
    })),
    // Kept over our own retries: a try that was carried out although its answer was lost then counts as done.
    ClientRequestToken: deps.newId(),
  };

  const giveUpAt = deps.clock() + RETRIES_LAST_MS;
  for (let tries = 1; ; tries += 1) {
    const result = await write(deps.client, input);
    if (result.done) return { outcome: 'created' };
    // Whatever the reason, the dispatch may be there by now: by another request, or by a try of ours whose answer was lost.
    const known = await find(deps, entry.dispatch.dispatchId);
    if (known !== undefined) return { outcome: 'exists', known };

    const wait = Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** (tries - 1)) * (0.5 + deps.random() / 2);
    if (deps.clock() + wait > giveUpAt) throw new Unavailable('the table', RETRY_AFTER_SECONDS, result.cause);
    await deps.sleep(wait);
  }
};

/** One try. Throws what no repetition will cure. */
const write = async (
  client: DynamoDBDocumentClient,
  input: TransactWriteCommandInput,
): Promise<{ done: true } | { done: false; cause: unknown }> => {
  try {
    await client.send(new TransactWriteCommand(input));
    return { done: true };
  } catch (error) {
    if (error instanceof TransactionCanceledException ? mayPass(error) : isPassing(error)) return { done: false, cause: error };
    throw error;
  }
};

/** Reasons come in the order of the items, and the dispatch is the first: if it is there already, nothing else matters. */
const mayPass = ({ CancellationReasons = [] }: TransactionCanceledException): boolean => {
  const codes = CancellationReasons.map(({ Code }) => Code ?? 'None');
  return codes[0] === 'ConditionalCheckFailed' || codes.every((code) => code === 'None' || PASSING_REASONS.has(code));
};
