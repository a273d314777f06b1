import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';

import type { WriteResult } from '../../application/ports.ts';
import { toIso } from '../../domain/instant.ts';
import { ATTEMPTS_EXHAUSTED, type In, type Recipient, type RecipientKey } from '../../domain/recipient.ts';
import { stateAttributes } from './items.ts';
import { contentKey, dispatchKey, OPEN, recipientKey } from './keys.ts';
import { isPassing } from './statements.ts';

/**
 * Puts a recipient back to PENDING together with its dispatch, which is open again, and its content, which must not
 * expire meanwhile. All three or none.
 */
export const reopenRecipient = async (
  client: DynamoDBDocumentClient,
  tableName: string,
  key: RecipientKey,
  from: In<'FAILED'>,
  next: Recipient,
): Promise<WriteResult> => {
  const set = Object.entries(stateAttributes(next));
  try {
    await client.send(
      new TransactWriteCommand({
        TransactItems: [
          {
            Update: {
              TableName: tableName,
              Key: recipientKey(key),
              UpdateExpression: `SET ${set.map((_, i) => `#n${i} = :v${i}`).join(', ')} REMOVE expiresAt`,
              ConditionExpression:
                '#status = :failed AND lastErrorCode = :exhausted AND #round = :round AND failedAt = :failedAt',
              ExpressionAttributeNames: {
                '#status': 'status',
                '#round': 'round',
                ...Object.fromEntries(set.map(([name], i) => [`#n${i}`, name])),
              },
              ExpressionAttributeValues: {
                ':failed': 'FAILED',
                ':exhausted': ATTEMPTS_EXHAUSTED,
                ':round': from.round,
                ':failedAt': toIso(from.failedAt),
                ...Object.fromEntries(set.map(([, value], i) => [`:v${i}`, value])),
              },
            },
          },
          {
            Update: {
              TableName: tableName,
              Key: dispatchKey(key.dispatchId),
              UpdateExpression:
                'SET #status = :inProgress, generation = generation + :one, openKey = :open REMOVE completedAt, outcome, expiresAt',
              ConditionExpression: '#status IN (:accepted, :inProgress, :completed)',
              ExpressionAttributeNames: { '#status': 'status' },
              ExpressionAttributeValues: {
                ':inProgress': 'IN_PROGRESS',
                ':accepted': 'ACCEPTED',
                ':completed': 'COMPLETED',
                ':one': 1,
                ':open': OPEN,
              },
            },
          },
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
