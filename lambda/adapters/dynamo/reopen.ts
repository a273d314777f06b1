import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';

import type { WriteResult } from '../../application/ports.ts';
import type { DispatchStatus } from '../../domain/dispatch.ts';
import { toIso } from '../../domain/instant.ts';
import type { In, Recipient, RecipientKey } from '../../domain/recipient.ts';
import { readIsFrozen, stillFrozen } from './frozen-as.ts';
import { stateAttributes } from './items.ts';
import { contentKey, dispatchKey, OPEN, recipientKey } from './keys.ts';
import { isPassing } from './statements.ts';
import { updateOf } from './update.ts';

/**
 * Puts a recipient back to PENDING together with its dispatch, which is open again, and its content, which must not
 * expire meanwhile. All three or none.
 * @param from the failure as it was read: another one by now is not reopened
 */
export const reopenRecipient = async (
  { client, tableName }: { readonly client: DynamoDBDocumentClient; readonly tableName: string },
  key: RecipientKey,
  from: In<'FAILED' | 'UNKNOWN'>,
  next: Recipient,
  dispatch: DispatchStatus,
): Promise<WriteResult> => {
  if (dispatch === 'CANCELLED') return 'lease-lost';
  const { status, round, lastErrorCode, failedAt } = from;
  const as = { status, round, lastErrorCode, failedAt: toIso(failedAt) };
  try {
    const isFrozen = await readIsFrozen(client, tableName, key.dispatchId);
    if (isFrozen === undefined) return 'lease-lost';
    const row = updateOf(tableName, recipientKey(key), { ...stateAttributes(next), expiresAt: undefined }, as);
    const opened = openAgain(tableName, key.dispatchId, dispatch, next);
    await client.send(
      new TransactWriteCommand({
        TransactItems: [
          { Update: isFrozen ? keepingFrozenAs(row, status) : row },
          { Update: { ...opened, ConditionExpression: `${opened.ConditionExpression} AND ${stillFrozen(isFrozen)}` } },
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
      return failed ? 'lease-lost' : 'unavailable';
    }
    if (isPassing(error)) return 'unavailable';
    throw error;
  }
};

/** The row may have left another final status before. */
const keepingFrozenAs = (row: ReturnType<typeof updateOf>, status: In<'FAILED' | 'UNKNOWN'>['status']) => ({
  ...row,
  UpdateExpression: row.UpdateExpression.replace('SET ', 'SET frozenAs = if_not_exists(frozenAs, :frozenAs), '),
  ExpressionAttributeValues: { ...row.ExpressionAttributeValues, ':frozenAs': status },
});

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
