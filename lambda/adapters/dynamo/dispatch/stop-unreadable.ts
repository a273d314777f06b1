import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';

import { Unavailable } from '../../../application/ports/errors.ts';
import type { StopReason } from '../../../domain/dispatch/stop-rule.ts';
import { type Instant, toIso } from '../../../domain/shared/instant.ts';
import { dispatchKey, type ItemKey } from '../client/keys.ts';
import { orUnavailable, retryAfter } from '../client/or-unavailable.ts';

/** An item that names an object which cannot be read. */
export interface NamingItem {
  readonly key: ItemKey;
  readonly object: string;
}

const FAILED = 'ConditionalCheckFailed';

/**
 * Stops a dispatch, as long as its item still names the object: both in one transaction, so that an object that was deleted
 * after its batch was expanded stops nothing.
 * @returns `not-named`: the item names it no more; `not-sending`: the dispatch is stopped or over already. Throws {@link Unavailable}
 */
export const stopUnreadable = (
  { client, tableName: TableName }: { readonly client: DynamoDBDocumentClient; readonly tableName: string },
  dispatchId: string,
  { key, object }: NamingItem,
  reason: StopReason,
  now: Instant,
): Promise<'stopped' | 'not-named' | 'not-sending'> =>
  orUnavailable(async () => {
    try {
      await client.send(
        new TransactWriteCommand({
          TransactItems: [
            {
              ConditionCheck: {
                TableName,
                Key: key,
                ConditionExpression: '#object = :object',
                ExpressionAttributeNames: { '#object': 'object' },
                ExpressionAttributeValues: { ':object': object },
              },
            },
            { Update: stop(TableName, dispatchId, reason, now) },
          ],
        }),
      );
      return 'stopped';
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const [ofItem, ofDispatch] = (error.CancellationReasons ?? []).map(({ Code }) => Code);
      if (ofItem === FAILED) return 'not-named';
      if (ofDispatch === FAILED) return 'not-sending';
      // Another write met it, or was throttled.
      throw new Unavailable('the table', retryAfter(error), error);
    }
  });

const stop = (TableName: string, dispatchId: string, reason: StopReason, now: Instant) => ({
  TableName,
  Key: dispatchKey(dispatchId),
  UpdateExpression: 'SET #status = :stopped, failureReason = :reason, stoppedAt = :now REMOVE faultCode, faultSince',
  ConditionExpression: '#status IN (:accepted, :inProgress)',
  ExpressionAttributeNames: { '#status': 'status' },
  ExpressionAttributeValues: {
    ':stopped': 'STOPPED',
    ':reason': reason,
    ':now': toIso(now),
    ':accepted': 'ACCEPTED',
    ':inProgress': 'IN_PROGRESS',
  },
});
