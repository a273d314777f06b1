import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { EndingRepository, OpenRowStatus, RowsSeen } from '../../../application/ports/progress.ts';
import { BATCH_PREFIX } from '../../../contracts/table-keys.ts';
import {
  addCounts,
  type Counts,
  type Dispatch,
  NO_COUNTS,
  NO_DELIVERIES,
  type RowCounts,
  statisticsFrom,
  withBatches,
} from '../../../domain/dispatch/dispatch.ts';
import { addRowCounts } from '../../../domain/dispatch/progress.ts';
import { addBounceStatistics, NO_BOUNCE_STATISTICS } from '../../../domain/dispatch/stop-rule.ts';
import { expiryAfter, type Instant, toIso } from '../../../domain/shared/instant.ts';
import { dispatchKey, OPEN, parseKey } from '../client/keys.ts';
import { pendingItems } from '../client/pending-items.ts';
import { readShards } from '../client/read-shards.ts';
import { updateOf } from '../client/update.ts';
import { Count } from '../recipient/items.ts';
import {
  bounceStatisticsSince,
  countFrozen,
  countRowProjections,
  endedAt,
  overdueSince,
  projectShard,
  type RowProjection,
} from '../recipient/row-projection.ts';
import { asCounted, completeDispatch, finishCancelled, type FinishDeps } from './finish-dispatch.ts';
import { stopDispatch } from './stop.ts';

const Batch = z.object({ pk: z.string(), sk: z.string(), count: Count });

/** Dispatches that may be at their end, and what is left of them. */
export const createEndingRepository = (deps: FinishDeps): EndingRepository => ({
  async batches(dispatchId) {
    const items = await pendingItems(deps, dispatchId, BATCH_PREFIX);
    return items.flatMap((item) => {
      const { count, ...stored } = Batch.parse(item);
      const key = parseKey(stored);
      return key?.kind === 'batch' ? [{ dispatchId, batch: key.batch, count }] : [];
    });
  },

  rows: (dispatch, now, hasTime) => seeRows(deps, dispatch, now, hasTime),
  recount: (dispatch, rows, lastProgressAt) => recount(deps, dispatch, rows, lastProgressAt),
  complete: (dispatch, rows, now) => completeDispatch(deps, dispatch, rows, now),
  close: (dispatch, rows, now) => finishCancelled(deps, dispatch, rows, now),
  stop: (dispatch, stop, now) => stopDispatch(deps, dispatch, stop, now),
});

const seeRows = async (
  { client, tableName, retentionDays }: FinishDeps,
  dispatch: Pick<Dispatch, 'dispatchId' | 'shards' | 'createdAt' | 'resumedAt' | 'statisticsSince' | 'frozenGeneration'>,
  now: Instant,
  hasTime: () => boolean,
): Promise<RowsSeen> => {
  const since = statisticsFrom(dispatch);
  // Once all recipients were counted, one without a row can only have expired, whatever the retention was then.
  const mayHaveExpired = dispatch.frozenGeneration !== undefined || expiryAfter(dispatch.createdAt, retentionDays) * 1000 <= now;
  const seen = await readShards(dispatch, async (pk): Promise<RowsSeen & { readonly frozen: Counts }> => {
    const rows = await projectShard(client, tableName, pk, now, hasTime);
    const bounceStatistics = bounceStatisticsSince(rows, since);
    return {
      ...countRowProjections(rows),
      frozen: countFrozen(rows, dispatch),
      bounceStatistics,
      overdueSince: oldest(rows, now),
      ...newest(rows),
    };
  });
  return {
    ...seen.reduce<RowCounts>(addRowCounts, { counts: NO_COUNTS, deliveries: NO_DELIVERIES }),
    ...(mayHaveExpired && { frozen: seen.map((ofShard) => ofShard.frozen).reduce(addCounts, NO_COUNTS) }),
    bounceStatistics: seen.map((ofShard) => ofShard.bounceStatistics).reduce(addBounceStatistics, NO_BOUNCE_STATISTICS),
    overdueSince: seen.map((ofShard) => ofShard.overdueSince).reduce<RowsSeen['overdueSince']>(earlier, {}),
    ...latest(
      'newestSentAt',
      seen.map((ofShard) => ofShard.newestSentAt),
    ),
    ...latest(
      'newestOutcomeAt',
      seen.map((ofShard) => ofShard.newestOutcomeAt),
    ),
  };
};

const recount = async (
  { client, tableName }: FinishDeps,
  dispatch: Dispatch,
  { counts, deliveries }: RowCounts,
  lastProgressAt: Instant,
): Promise<boolean> => {
  const set = { counts: withBatches(dispatch.total, counts), deliveries, lastProgressAt: toIso(lastProgressAt) };
  const as = { openKey: OPEN, status: dispatch.status, ...asCounted(dispatch) };
  try {
    await client.send(new UpdateCommand(updateOf(tableName, dispatchKey(dispatch.dispatchId), set, as)));
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};

const oldest = (rows: readonly RowProjection[], now: Instant): RowsSeen['overdueSince'] =>
  rows.reduce<RowsSeen['overdueSince']>((before, row) => {
    const since = overdueSince(row, now);
    return since === undefined ? before : earlier(before, { [row.status]: since });
  }, {});

const earlier = (a: RowsSeen['overdueSince'], b: RowsSeen['overdueSince']): RowsSeen['overdueSince'] => ({
  ...earliest('PENDING', a, b),
  ...earliest('PROCESSING', a, b),
});

const earliest = (status: OpenRowStatus, a: RowsSeen['overdueSince'], b: RowsSeen['overdueSince']) => {
  const since = Math.min(a[status] ?? Infinity, b[status] ?? Infinity);
  return since === Infinity ? {} : { [status]: since };
};

const newest = (rows: readonly RowProjection[]): Pick<RowsSeen, 'newestSentAt' | 'newestOutcomeAt'> => ({
  ...latest(
    'newestSentAt',
    // Of one that is SENT by a person's word no event need come.
    rows.map(({ status, sentAt, messageId }) => (status === 'SENT' && messageId !== undefined ? sentAt : undefined)),
  ),
  ...latest('newestOutcomeAt', rows.map(endedAt)),
});

const latest = (name: 'newestSentAt' | 'newestOutcomeAt', instants: readonly (Instant | undefined)[]) => {
  const known = instants.filter((instant) => instant !== undefined);
  return known.length === 0 ? {} : { [name]: known.reduce((a, b) => Math.max(a, b)) };
};
