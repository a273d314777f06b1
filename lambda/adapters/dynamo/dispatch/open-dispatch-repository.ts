import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, paginateQuery, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { OpenDispatchRepository, SweepState } from '../../../application/ports/progress.ts';
import { TASK_PREFIX } from '../../../contracts/table-keys.ts';
import type { Dispatch } from '../../../domain/dispatch/dispatch.ts';
import { toIso } from '../../../domain/shared/instant.ts';
import { dispatchKey, OPEN, parseKey } from '../client/keys.ts';
import { pendingItems } from '../client/pending-items.ts';
import { type Attributes, updateOf } from '../client/update.ts';
import { Count, DispatchItem, Iso } from '../recipient/items.ts';
import { readOverdueRows } from '../recipient/overdue-rows.ts';
import { createEndingRepository } from './ending-repository.ts';
import { type FinishDeps, settleDispatch, visitOf } from './finish-dispatch.ts';

export interface OpenDispatchRepositoryDeps extends FinishDeps {
  readonly openIndex: string;
}

const Key = z.object({ pk: z.string(), sk: z.string() });
const Task = Key.extend({ state: z.string().exactOptional() });

/** The dispatch item as the sweeper reads it. */
const OpenDispatchItem = DispatchItem.extend({
  sweptGeneration: Count.exactOptional(),
  sweptTasks: Count.exactOptional(),
  tasks: Count.exactOptional(),
  requeueFrom: z.object({ until: Iso, shard: Count, after: z.string().exactOptional() }).exactOptional(),
}) satisfies z.ZodType<Dispatch & SweepState>;

/** The dispatches that are not finished, by the sparse index that holds nothing else. */
export const createOpenDispatchRepository = (deps: OpenDispatchRepositoryDeps): OpenDispatchRepository => ({
  ...createEndingRepository(deps),
  open: () => open(deps),

  async tasks(dispatchId) {
    const items = await pendingItems(deps, dispatchId, TASK_PREFIX);
    return items.flatMap((item) => {
      const { state, ...key } = Task.parse(item);
      const parsed = parseKey(key);
      return parsed?.kind === 'task' && state !== 'done' ? [{ dispatchId, task: parsed.task }] : [];
    });
  },

  settle: (dispatch, rows, sweptAt, isLast) => settleDispatch(deps, dispatch, rows, sweptAt, isLast),

  overdueRows: (dispatch, statuses, from) => readOverdueRows(deps, dispatch, statuses, from),

  keepRequeue: (dispatchId, from) => changeOpen(deps, dispatchId, { requeueFrom: from && { ...from, until: toIso(from.until) } }),

  mark: (dispatch, sweptAt) => changeOpen(deps, dispatch.dispatchId, visitOf(dispatch, sweptAt)),
});

const changeOpen = async (deps: OpenDispatchRepositoryDeps, dispatchId: string, set: Attributes): Promise<void> => {
  try {
    await deps.client.send(new UpdateCommand(updateOf(deps.tableName, dispatchKey(dispatchId), set, { openKey: OPEN })));
  } catch (error) {
    // Completed, or gone, since it was read.
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};

async function* open({
  client,
  tableName,
  openIndex,
}: OpenDispatchRepositoryDeps): AsyncGenerator<(Dispatch & SweepState) | 'unreadable'> {
  const pages = paginateQuery(
    { client },
    {
      TableName: tableName,
      IndexName: openIndex,
      KeyConditionExpression: 'openKey = :open',
      ExpressionAttributeValues: { ':open': OPEN },
    },
  );
  for await (const { Items = [] } of pages) {
    for (const item of Items) {
      const { pk, sk } = Key.parse(item);
      // The index lags behind and holds keys alone; the item itself says how things stand.
      const { Item } = await client.send(new GetCommand({ TableName: tableName, Key: { pk, sk }, ConsistentRead: true }));
      if (Item?.['openKey'] === OPEN) yield OpenDispatchItem.safeParse(Item).data ?? 'unreadable';
    }
  }
}
