import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';

import type { WriteResult } from '../../../application/ports/recipients.ts';
import type { Clock } from '../../../application/ports/system.ts';
import type { DispatchStatus } from '../../../domain/dispatch/dispatch.ts';
import { frozenChange } from '../../../domain/dispatch/frozen-counts.ts';
import type { Recipient, RecipientIn, RecipientKey } from '../../../domain/recipient/recipient.ts';
import { type Instant, toIso } from '../../../domain/shared/instant.ts';
import { expiryNow, NOT_EXPIRED } from '../client/expiry.ts';
import { contentKey, dispatchKey, OPEN, recipientKey } from '../client/keys.ts';
import { updateOf } from '../client/update.ts';
import { readLastEnd, reopenedAfterOf, withFrozenChange } from '../dispatch/frozen-counts.ts';
import { stateAttributes } from './items.ts';
import { isTransient } from './statements.ts';

export interface ReopenDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly clock: Clock;
}

/**
 * Puts a recipient back to PENDING together with its dispatch, which is open again, and its content, which must not
 * expire meanwhile. All three or none.
 * @param from the failure as it was read: another one by now is not reopened
 */
export const reopenRecipient = async (
  { client, tableName, clock }: ReopenDeps,
  key: RecipientKey,
  from: RecipientIn<'FAILED' | 'UNKNOWN'>,
  next: Recipient,
  dispatch: DispatchStatus,
): Promise<WriteResult> => {
  if (dispatch === 'CANCELLED') return 'conflict';
  const { status, round, lastErrorCode, failedAt } = from;
  const as = { status, round, lastErrorCode, failedAt: toIso(failedAt) };
  try {
    const now = clock();
    const [end, found] = await Promise.all([
      readLastEnd(client, tableName, key.dispatchId),
      readReopened(client, tableName, key),
    ]);
    if (end === undefined || found === undefined) return 'conflict';
    const frozen = frozenChange({ status, ...found }, next.status, end);
    const set = { ...stateAttributes(next), ...(frozen && { reopenedAfter: end.frozenGeneration }), expiresAt: undefined };
    const opened = openAgain(tableName, key.dispatchId, dispatch, next);
    await client.send(
      new TransactWriteCommand({
        TransactItems: [
          { Update: unlessExpired(updateOf(tableName, recipientKey(key), set, as), now) },
          { Update: withFrozenChange(opened, frozen, end) },
          {
            Update: {
              TableName: tableName,
              Key: contentKey(key.dispatchId),
              UpdateExpression: 'REMOVE expiresAt',
              ConditionExpression: 'attribute_exists(pk)',
            },
          },
        ],
      }),
    );
    return 'written';
  } catch (error) {
    if (error instanceof TransactionCanceledException) {
      const failed = error.CancellationReasons?.some(({ Code }) => Code === 'ConditionalCheckFailed') ?? false;
      return failed ? 'conflict' : 'unavailable';
    }
    if (isTransient(error)) return 'unavailable';
    throw error;
  }
};

/** TTL may delete a row that has expired at any moment, so it counts as gone. */
const unlessExpired = (row: ReturnType<typeof updateOf>, now: Instant) => ({
  ...row,
  ConditionExpression: `${row.ConditionExpression} AND ${NOT_EXPIRED}`,
  ExpressionAttributeValues: { ...row.ExpressionAttributeValues, ':now': expiryNow(now) },
});

/** Undefined: the row is gone. */
const readReopened = async (client: DynamoDBDocumentClient, TableName: string, key: RecipientKey) => {
  const ProjectionExpression = 'pk, reopenedAfter';
  const { Item } = await client.send(
    new GetCommand({ TableName, Key: recipientKey(key), ConsistentRead: true, ProjectionExpression }),
  );
  return Item && { reopenedAfter: reopenedAfterOf(Item) };
};

/** A stopped dispatch stays so until a person resumes it; of the others none is finished any more. */
const openAgain = (TableName: string, dispatchId: string, status: Exclude<DispatchStatus, 'CANCELLED'>, next: Recipient) => {
  const update = { TableName, Key: dispatchKey(dispatchId), ExpressionAttributeNames: { '#status': 'status' } };
  const values = { ':one': 1, ':open': OPEN };
  if (status === 'STOPPED') {
    return {
      ...update,
      UpdateExpression: 'SET generation = generation + :one, openKey = :open',
      ConditionExpression: '#status = :stopped',
      ExpressionAttributeValues: { ...values, ':stopped': 'STOPPED' },
    };
  }
  // What bounced before it was completed is no reason to stop what is sent now; none of that is due before.
  const since = status === 'COMPLETED' && next.status === 'PENDING' ? toIso(next.nextAttemptAt) : undefined;
  return {
    ...update,
    UpdateExpression:
      `SET #status = :inProgress, generation = generation + :one, openKey = :open${since === undefined ? '' : ', statisticsSince = :since'} ` +
      'REMOVE completedAt, outcome, needsAttention, expiresAt',
    ConditionExpression: '#status IN (:accepted, :inProgress, :completed)',
    ExpressionAttributeValues: {
      ...values,
      ':inProgress': 'IN_PROGRESS',
      ':accepted': 'ACCEPTED',
      ':completed': 'COMPLETED',
      ...(since !== undefined && { ':since': since }),
    },
  };
};
