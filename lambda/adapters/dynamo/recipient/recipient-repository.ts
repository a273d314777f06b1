import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';

import type {
  ClaimResult,
  RecipientRepository,
  RecipientWrite,
  StoredRecipient,
  WriteResult,
} from '../../../application/ports/recipients.ts';
import type { Clock, Random, Sleep } from '../../../application/ports/system.ts';
import type { Lease, RecipientKey } from '../../../domain/recipient/recipient.ts';
import { expiryAfter, type Instant, toIso } from '../../../domain/shared/instant.ts';
import { isExpired } from '../client/expiry.ts';
import { recipientKey } from '../client/keys.ts';
import { updateOf } from '../client/update.ts';
import { expiryOf, parseRecipientItem, stateAttributes, toStoredAttempt } from './items.ts';
import { patchRecipient } from './patch-recipient.ts';
import { reopenRecipient } from './reopen.ts';
import { executeAll, isAwsError, isTransient, type Statement, type StatementResult } from './statements.ts';

export interface RecipientRepositoryDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  /** How long a final recipient is kept. */
  readonly retentionDays: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly sleep: Sleep;
}

/** The recipients in the table. Claims and outcomes go in batches, each with its own condition. */
export const createRecipientRepository = (deps: RecipientRepositoryDeps): RecipientRepository => ({
  async claimAll(claims, now) {
    const results = await executeAll(
      deps.client,
      claims.map((claim) => claimStatement(deps.tableName, claim, now)),
      deps,
    );
    return Promise.all(results.map((result, i) => checkClaim(deps, claims[i], result)));
  },

  async writeAll(writes) {
    const results = await executeAll(
      deps.client,
      writes.map((write) => writeStatement(deps, write)),
      deps,
    );
    return Promise.all(results.map((result, i) => checkWrite(deps, writes[i], result)));
  },

  async find(key) {
    try {
      return await find(deps, key);
    } catch (error) {
      if (isAwsError(error)) throw error;
      return 'unavailable';
    }
  },

  reopen: (key, from, next, dispatch) => reopenRecipient(deps, key, from, next, dispatch),
  cancel: (key, now) => cancel(deps, key, now),
  applyPatch: (key, change) => patchRecipient(deps, key, change),
});

/** The condition is the rule of the domain: PENDING, and due. A parity test ties the two. */
const claimStatement = (tableName: string, { key, lease }: { key: RecipientKey; lease: Lease }, now: Instant): Statement => {
  const { pk, sk } = recipientKey(key);
  // The entry's round and number are not known before the claim: they are read off the row it returns.
  const entry = { lease: lease.token, startedAt: toIso(now) };
  return {
    text:
      `UPDATE "${tableName}" SET "status"='PROCESSING', "leaseToken"=?, "leaseUntil"=?, "attemptCount"=attemptCount+1, "attempts"=list_append(attempts, ?) ` +
      `WHERE pk=? AND sk=? AND "status"='PENDING' AND nextAttemptAt<=? RETURNING ALL NEW *`,
    parameters: [lease.token, toIso(lease.until), [entry], pk, sk, toIso(now)],
  };
};

/** The attributes of the next state; those of the state before stay, and are not read any more. */
const writeStatement = (
  { tableName, retentionDays }: RecipientRepositoryDeps,
  { key, token, next, attempts }: RecipientWrite,
): Statement => {
  const { pk, sk } = recipientKey(key);
  const expiresAt = expiryOf(next, retentionDays);
  const attributes = Object.entries({
    ...stateAttributes(next),
    attempts: attempts.map(toStoredAttempt),
    ...(expiresAt !== undefined && { expiresAt }),
  });
  return {
    text:
      `UPDATE "${tableName}" SET ${attributes.map(([name]) => `"${name}"=?`).join(', ')} ` +
      `WHERE pk=? AND sk=? AND "status"='PROCESSING' AND leaseToken=?`,
    parameters: [...attributes.map(([, value]) => value), pk, sk, token],
  };
};

const checkClaim = async (
  deps: RecipientRepositoryDeps,
  claim: { key: RecipientKey; lease: Lease } | undefined,
  result: StatementResult,
): Promise<ClaimResult> => {
  if (claim === undefined || result.outcome === 'rejected') return { outcome: 'broken' };
  try {
    if (result.outcome === 'done' && result.item !== undefined) return asClaimed(parseRecipientItem(result.item), claim.lease);
    const read = await find(deps, claim.key);
    if (read === 'unavailable') return { outcome: 'unavailable' };
    // The SDK repeats a request whose answer it lost; our own token means that the first try had worked.
    if (read?.recipient.status === 'PROCESSING' && read.recipient.lease.token === claim.lease.token)
      return asClaimed(read, claim.lease);
    return result.outcome === 'unanswered' ? { outcome: 'unavailable' } : { outcome: 'refused', found: read };
  } catch (error) {
    if (isAwsError(error)) throw error;
    // One row that cannot be read must not hold up the others of the batch.
    return { outcome: 'broken' };
  }
};

/** Ours: no lease is prolonged, so its holder sends by it only while it lasts. */
export const asClaimed = (row: StoredRecipient, lease: Lease): ClaimResult =>
  row.recipient.status === 'PROCESSING' && row.recipient.lease.token === lease.token
    ? { outcome: 'claimed', claimed: { ...row, recipient: row.recipient } }
    : { outcome: 'refused', found: row };

const checkWrite = async (
  deps: RecipientRepositoryDeps,
  write: RecipientWrite | undefined,
  result: StatementResult,
): Promise<WriteResult> => {
  if (result.outcome === 'done') return 'written';
  if (write === undefined || result.outcome !== 'condition-failed') return 'unavailable';
  const read = await find(deps, write.key);
  if (read === 'unavailable') return 'unavailable';
  return read !== undefined && isOurs(read, write) ? 'written' : 'conflict';
};

/** Our own write, repeated by the SDK after its answer was lost, finds what it wrote itself; nobody else writes by this lease. */
export const isOurs = ({ attempts }: StoredRecipient, write: RecipientWrite): boolean => {
  const ours = write.attempts.find(({ lease }) => lease === write.token)?.outcome;
  const recorded = attempts.find(({ lease }) => lease === write.token)?.outcome;
  return recorded !== undefined && recorded === ours;
};

/** The condition is the rule of the domain: only a PENDING recipient is cancelled. */
const cancel = async (
  { client, tableName, retentionDays }: RecipientRepositoryDeps,
  key: RecipientKey,
  now: Instant,
): Promise<WriteResult> => {
  const set = { status: 'CANCELLED', cancelledAt: toIso(now), expiresAt: expiryAfter(now, retentionDays) };
  try {
    await client.send(new UpdateCommand(updateOf(tableName, recipientKey(key), set, { status: 'PENDING' })));
    return 'written';
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return 'conflict';
    if (isTransient(error)) return 'unavailable';
    throw error;
  }
};

const find = async (
  { client, tableName, clock }: RecipientRepositoryDeps,
  key: RecipientKey,
): Promise<StoredRecipient | undefined | 'unavailable'> => {
  try {
    const { Item } = await client.send(new GetCommand({ TableName: tableName, Key: recipientKey(key), ConsistentRead: true }));
    return Item === undefined || isExpired(Item, clock()) ? undefined : parseRecipientItem(Item);
  } catch (error) {
    if (isTransient(error)) return 'unavailable';
    throw error;
  }
};
