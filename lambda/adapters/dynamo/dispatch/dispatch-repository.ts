import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';

import type { DispatchRepository } from '../../../application/ports/dispatches.ts';
import type { Clock } from '../../../application/ports/system.ts';
import { type Dispatch, type DispatchStatus, isActive } from '../../../domain/dispatch/dispatch.ts';
import type { FinalRows } from '../../../domain/dispatch/stop-rule.ts';
import { ATTEMPTS_EXHAUSTED, OUTCOME_UNCLEAR, SETTLED_BY_OPERATOR } from '../../../domain/recipient/recipient.ts';
import type { Instant } from '../../../domain/shared/instant.ts';
import { dispatchKey } from '../client/keys.ts';
import { readShards } from '../client/read-shards.ts';
import { Count, DispatchItem } from '../recipient/items.ts';
import { endedAt, projectShard, type RowProjection } from '../recipient/row-projection.ts';
import { isAwsError, isTransient } from '../recipient/statements.ts';
import { stopDispatch } from './stop.ts';

export interface DispatchRepositoryDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly clock: Clock;
}

/** How old the knowledge may be that a dispatch is being sent. */
const ACTIVE_KEPT_MS = 5_000;
/** Dispatches under way at once are few; a redrive may bring messages of many old ones. */
const KEPT = 1_000;

/** The time is for a metric only: one that cannot be read must not keep a dispatch from being sent. */
const Status = DispatchItem.pick({ status: true }).extend({
  createdAt: DispatchItem.shape.createdAt.optional().catch(undefined),
});
const Counted = DispatchItem.extend({ refusedCount: Count });

/** Also knows, of dispatches whose status was asked for lately, when they were accepted. */
export interface SenderDispatches extends DispatchRepository {
  readonly acceptedAt: (dispatchId: string) => Instant | undefined;
}

/** The dispatches as a sender needs them. */
export const createDispatchRepository = (deps: DispatchRepositoryDeps): SenderDispatches => {
  const active: Cache = new Map();
  return {
    status: createStatus(deps, active),
    acceptedAt: (dispatchId) => active.get(dispatchId)?.createdAt,
    addRefused: (dispatchId, count) => addRefused(deps, dispatchId, count),
    finalRows: (dispatch) => finalRows(deps, dispatch),
    stop: (dispatch, stop, now) => {
      active.delete(dispatch.dispatchId);
      return stopDispatch(deps, dispatch, stop, now);
    },
  };
};

interface Seen {
  readonly status: DispatchStatus;
  readonly createdAt?: Instant | undefined;
}

type Cache = Map<string, Seen & { readonly readAt: Instant }>;

/** Remembers for a while which dispatches are active; one that was stopped or cancelled is read anew each time. */
const createStatus = ({ client, tableName, clock }: DispatchRepositoryDeps, cache: Cache): DispatchRepository['status'] => {
  const read = async (dispatchId: string): Promise<Seen | 'unknown-dispatch'> => {
    const { Item } = await client.send(
      new GetCommand({
        TableName: tableName,
        Key: dispatchKey(dispatchId),
        ConsistentRead: true,
        ProjectionExpression: '#status, createdAt',
        ExpressionAttributeNames: { '#status': 'status' },
      }),
    );
    return Item === undefined ? 'unknown-dispatch' : Status.parse(Item);
  };

  return async (dispatchId) => {
    const kept = cache.get(dispatchId);
    if (kept !== undefined && clock() - kept.readAt < ACTIVE_KEPT_MS) return kept.status;
    cache.delete(dispatchId);
    const readAt = clock();
    try {
      const seen = await read(dispatchId);
      if (seen === 'unknown-dispatch') return seen;
      if (!isActive(seen.status)) return seen.status;
      const oldest = cache.keys().next();
      if (cache.size >= KEPT && oldest.done !== true) cache.delete(oldest.value);
      cache.set(dispatchId, { ...seen, readAt });
      return seen.status;
    } catch (error) {
      if (isAwsError(error) && !isTransient(error)) throw error;
      // Also one in a status that this version does not know: it is not for this version to send.
      return 'unavailable';
    }
  };
};

const addRefused = async (
  { client, tableName }: DispatchRepositoryDeps,
  dispatchId: string,
  count: number,
): ReturnType<DispatchRepository['addRefused']> => {
  try {
    const { Attributes } = await client.send(
      new UpdateCommand({
        TableName: tableName,
        Key: dispatchKey(dispatchId),
        UpdateExpression: 'ADD refusedCount :count',
        ConditionExpression: '#status IN (:accepted, :inProgress)',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':count': count, ':accepted': 'ACCEPTED', ':inProgress': 'IN_PROGRESS' },
        ReturnValues: 'ALL_NEW',
      }),
    );
    const { refusedCount, ...dispatch } = Counted.parse(Attributes);
    return { refused: refusedCount, dispatch };
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
};

/** SES refused none of these. */
const NOT_REFUSED: ReadonlySet<string> = new Set([ATTEMPTS_EXHAUSTED, OUTCOME_UNCLEAR, SETTLED_BY_OPERATOR]);

/** A refusal after a lost attempt leaves the recipient UNKNOWN. */
const isRefused = ({ status, lastErrorCode = '' }: RowProjection): boolean =>
  (status === 'FAILED' || status === 'UNKNOWN') && !NOT_REFUSED.has(lastErrorCode);

const finalRows = async ({ client, tableName, clock }: DispatchRepositoryDeps, dispatch: Dispatch): Promise<FinalRows> => {
  const now = clock();
  const rows = (await readShards(dispatch, (pk) => projectShard(client, tableName, pk, now))).flat();
  const from = dispatch.resumedAt ?? dispatch.createdAt;
  const ended = rows.filter((row) => (endedAt(row) ?? -Infinity) >= from);
  const refused = ended.filter(isRefused);
  const times = refused.flatMap(({ failedAt }) => failedAt ?? []);
  return {
    final: ended.length,
    refused: refused.length,
    codes: new Set(refused.flatMap(({ lastErrorCode }) => lastErrorCode ?? [])),
    since: times.length === 0 ? undefined : times.reduce((a, b) => Math.min(a, b)),
  };
};
