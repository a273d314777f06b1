import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

import type { Random, Sleep } from '../../../application/ports/system.ts';
import type { RecipientInput } from '../../../domain/dispatch/content.ts';
import { shardOf } from '../../../domain/dispatch/shards.ts';
import type { Instant } from '../../../domain/shared/instant.ts';
import { retryWaitMs } from '../../../domain/shared/retry.ts';
import { recipientKey } from '../client/keys.ts';
import { newRecipientItem } from './items.ts';
import { executeAll, type Statement } from './statements.ts';

export interface InsertDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly random: Random;
  readonly sleep: Sleep;
}

/** Thrown when a recipient can never be stored: a fault of the item, the code or the deployment. The code is DynamoDB's. */
export class RecipientRejectedError extends Error {
  override readonly name = 'RecipientRejectedError';
}

/** One call, and so much is lost of the time when it is throttled. */
const AT_ONCE = 25;
const BACKOFF = { baseMs: 400, capMs: 5_000 };

/**
 * Puts recipients that are not there yet; while the table throttles it waits and goes on.
 * @returns false: time ran out before all were there
 */
export const putNewRecipients = async (
  deps: InsertDeps,
  { dispatchId, shards }: { readonly dispatchId: string; readonly shards: number },
  recipientInputs: readonly RecipientInput[],
  now: Instant,
  hasTime: () => boolean,
): Promise<boolean> => {
  let open = recipientInputs.map(({ applyId, email, variables }) =>
    insert(deps.tableName, {
      ...recipientKey({ dispatchId, shard: shardOf(applyId, shards), applyId }),
      ...newRecipientItem(email, variables, now),
    }),
  );
  let throttled = 0;
  while (open.length > 0) {
    if (!hasTime()) return false;
    const [chunk, rest] = [open.slice(0, AT_ONCE), open.slice(AT_ONCE)];
    const left = await putChunk(deps, chunk);
    // Those that failed go last: another shard may take more.
    open = [...rest, ...left];
    throttled = left.length === 0 ? 0 : throttled + 1;
    if (throttled > 0) await deps.sleep(retryWaitMs(BACKOFF, throttled, deps.random()));
  }
  return true;
};

/** @returns those that were not put */
const putChunk = async (deps: InsertDeps, chunk: readonly Statement[]): Promise<Statement[]> => {
  const results = await executeAll(deps.client, chunk, deps);
  const rejected = results.find((result) => result.outcome === 'rejected');
  if (rejected) throw new RecipientRejectedError(rejected.code);
  return chunk.filter((_, i) => !['done', 'exists'].includes(results[i]?.outcome ?? 'unanswered'));
};

/** INSERT fails on a key that is there, so a recipient that was sent already is never put back to PENDING. */
const insert = (tableName: string, item: Record<string, unknown>): Statement => {
  const attributes = Object.entries(item);
  return {
    text: `INSERT INTO "${tableName}" VALUE {${attributes.map(([name]) => `'${name}': ?`).join(', ')}}`,
    parameters: attributes.map(([, value]) => value),
  };
};
