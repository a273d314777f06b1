import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';

import type { Patch, RecipientRepository, StoredRecipient } from '../../../application/ports/recipients.ts';
import type { Clock, Random, Sleep } from '../../../application/ports/system.ts';
import { frozenChange } from '../../../domain/dispatch/frozen-counts.ts';
import { isFinal, type RecipientKey } from '../../../domain/recipient/recipient.ts';
import { toIso } from '../../../domain/shared/instant.ts';
import { retry } from '../../../domain/shared/retry.ts';
import { isExpired } from '../client/expiry.ts';
import { dispatchKey, OPEN, recipientKey } from '../client/keys.ts';
import { type Attributes, updateOf } from '../client/update.ts';
import { readLastEnd, reopenedAfterOf, withFrozenChange } from '../dispatch/frozen-counts.ts';
import { expiryOf, parseRecipientItem, stateAttributes, toStoredAttempt, toStoredEvent } from './items.ts';
import { isAwsError, isTransient } from './statements.ts';

export interface PatchDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly retentionDays: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly sleep: Sleep;
}

type PatchResult = Awaited<ReturnType<RecipientRepository['applyPatch']>>;

/** Several events of one dispatch may meet at its item, so those that lost do not all come back at once. */
const RETRIES = { tries: 5, baseMs: 80 };

/**
 * Every writer of a row changes at least one of these, so a row that still has them all is the one that was read.
 * Absent ones must still be absent.
 */
const GUARDS = ['status', 'round', 'attemptCount', 'leaseToken', 'leaseUntil', 'attempts', 'delivery', 'events'] as const;

/** Reads a row, asks what it should be and writes that, again if somebody was faster. */
export const patchRecipient = async (
  deps: PatchDeps,
  key: RecipientKey,
  change: (row: StoredRecipient) => Patch | undefined,
): Promise<PatchResult> => {
  const patched = await retry<PatchResult, unknown>(deps, RETRIES, async () => {
    try {
      return { done: true, result: await applyPatchOnce(deps, key, change) };
    } catch (failure) {
      if (isLostRace(failure)) return { done: false, failure };
      if (isAwsError(failure) && !isTransient(failure)) throw failure;
      // A row that no version of this code wrote stays so, however often it is read.
      return { done: true, result: isAwsError(failure) ? 'unavailable' : 'unreadable' };
    }
  });
  return patched.done ? patched.result : 'unavailable';
};

const applyPatchOnce = async (
  { client, tableName, retentionDays, clock }: PatchDeps,
  key: RecipientKey,
  change: (row: StoredRecipient) => Patch | undefined,
): Promise<PatchResult> => {
  const Key = recipientKey(key);
  const { Item } = await client.send(new GetCommand({ TableName: tableName, Key, ConsistentRead: true }));
  if (Item === undefined || isExpired(Item, clock())) return 'gone';
  const row = parseRecipientItem(Item);
  const next = change(row);
  if (next === undefined) return 'unchanged';

  const stored: Attributes = Item;
  const as = Object.fromEntries(GUARDS.map((name) => [name, stored[name]]));
  const set = attributesOf(row, next, retentionDays);
  const leavesFinal = isFinal(row.recipient.status) && row.recipient.status !== next.recipient.status;
  if (!leavesFinal) {
    await client.send(new UpdateCommand(updateOf(tableName, Key, set, as)));
    return 'written';
  }
  const end = await readLastEnd(client, tableName, key.dispatchId);
  // The row of a dispatch that is gone is about to go, too.
  if (end === undefined) return 'gone';
  const before = { status: row.recipient.status, reopenedAfter: reopenedAfterOf(stored) };
  const frozen = frozenChange(before, next.recipient.status, end);
  const isLeftOut = frozen !== undefined && frozen.to === undefined;
  const leaving = updateOf(tableName, Key, { ...set, ...(isLeftOut && { reopenedAfter: end.frozenGeneration }) }, as);
  const counting = withFrozenChange(recount(tableName, key.dispatchId), frozen, end);
  await client.send(new TransactWriteCommand({ TransactItems: [{ Update: leaving }, { Update: counting }] }));
  return 'written';
};

const attributesOf = ({ recipient }: StoredRecipient, next: Patch, retentionDays: number): Attributes => ({
  ...stateAttributes(next.recipient),
  attempts: next.attempts.map(toStoredAttempt),
  delivery: next.delivery,
  events: next.events.map(toStoredEvent),
  ...(next.settled && { settled: { ...next.settled, at: toIso(next.settled.at) } }),
  // An event about a row that stays as it is does not make it live longer.
  ...(recipient.status !== next.recipient.status && { expiresAt: expiryOf(next.recipient, retentionDays) }),
});

/** The sweeper counts the dispatch anew; a count that it made before this does not stand, as the generation is another. */
const recount = (TableName: string, dispatchId: string) => ({
  TableName,
  Key: dispatchKey(dispatchId),
  UpdateExpression: 'SET openKey = :open, generation = generation + :one',
  ConditionExpression: 'attribute_exists(pk)',
  ExpressionAttributeValues: { ':open': OPEN, ':one': 1 },
});

/** Somebody else wrote the row or its dispatch at the same time; nothing of ours was written. */
const isLostRace = (error: unknown): boolean =>
  error instanceof ConditionalCheckFailedException ||
  error instanceof TransactionCanceledException ||
  (error instanceof Error && error.name === 'TransactionConflictException');
