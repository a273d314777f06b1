import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';

import type { Dispatch } from '../../../domain/dispatch/dispatch.ts';
import type { Stop } from '../../../domain/dispatch/stop-rule.ts';
import { type Instant, toIso } from '../../../domain/shared/instant.ts';
import { dispatchKey } from '../client/keys.ts';
import { updateOf } from '../client/update.ts';

/**
 * Stops a dispatch that is being sent and was not resumed since it was read. It stays open: its rows under way must be
 * settled. @returns whether it was stopped by this call
 */
export const stopDispatch = async (
  { client, tableName }: { readonly client: DynamoDBDocumentClient; readonly tableName: string },
  { dispatchId, resumedAt }: Dispatch,
  { reason, faultCode, faultSince }: Stop,
  now: Instant,
): Promise<boolean> => {
  const set = {
    status: 'STOPPED',
    failureReason: reason,
    stoppedAt: toIso(now),
    // Those of an earlier stop go: a resume must not take them for this one's.
    faultCode,
    faultSince: faultSince === undefined ? undefined : toIso(faultSince),
  };
  // What was counted is counted since the last resume. A reopened recipient is no reason to go on: its like are refused, too.
  const update = updateOf(tableName, dispatchKey(dispatchId), set, {
    resumedAt: resumedAt === undefined ? undefined : toIso(resumedAt),
  });
  try {
    await client.send(
      new UpdateCommand({
        ...update,
        ConditionExpression: `${update.ConditionExpression} AND #status IN (:accepted, :inProgress)`,
        ExpressionAttributeValues: {
          ...update.ExpressionAttributeValues,
          ':accepted': 'ACCEPTED',
          ':inProgress': 'IN_PROGRESS',
        },
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};
