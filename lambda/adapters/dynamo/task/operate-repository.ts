import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { NewTask, OperateRepository } from '../../../application/ports/tasks.ts';
import type { Command } from '../../../domain/dispatch/command.ts';
import type { Dispatch } from '../../../domain/dispatch/dispatch.ts';
import { type Instant, toIso } from '../../../domain/shared/instant.ts';
import { contentKey, dispatchKey, OPEN, taskKey } from '../client/keys.ts';
import { orUnavailable } from '../client/or-unavailable.ts';
import { type Attributes, updateOf } from '../client/update.ts';
import { DispatchItem } from '../recipient/items.ts';
import { isTransient } from '../recipient/statements.ts';
import { newTaskItem } from './task-item.ts';

const Expiry = z.object({ expiresAt: z.number().exactOptional() });

const WithTasks = DispatchItem.extend({ tasks: z.number().int().nonnegative().default(0) });

/** Dispatches as people change them. */
export const createOperateRepository = (client: DynamoDBDocumentClient, tableName: string): OperateRepository => ({
  find: (dispatchId) =>
    orUnavailable(async () => {
      const { Item } = await client.send(
        new GetCommand({ TableName: tableName, Key: dispatchKey(dispatchId), ConsistentRead: true }),
      );
      if (Item === undefined) return undefined;
      const { tasks, ...dispatch } = WithTasks.parse(Item);
      return { dispatch, tasks };
    }),

  hasContent: (dispatchId, now) =>
    orUnavailable(async () => {
      const { Item } = await client.send(
        new GetCommand({
          TableName: tableName,
          Key: contentKey(dispatchId),
          ConsistentRead: true,
          ProjectionExpression: 'pk, expiresAt',
        }),
      );
      // TTL deletes days late, so the timestamp decides.
      return Item !== undefined && (Expiry.parse(Item).expiresAt ?? Infinity) * 1000 > now;
    }),

  async start({ dispatch, tasks }, next, task) {
    const { dispatchId, status, generation } = dispatch;
    const number = tasks + 1;
    try {
      await client.send(
        new TransactWriteCommand({
          TransactItems: [
            {
              Update: updateOf(
                tableName,
                dispatchKey(dispatchId),
                { ...changes(task.kind, next, task.requestedAt), tasks: number },
                { status, generation },
              ),
            },
            {
              Put: {
                TableName: tableName,
                Item: { ...taskKey({ dispatchId, task: number }), ...newTaskItem(task) },
                ConditionExpression: 'attribute_not_exists(pk)',
              },
            },
          ],
        }),
      );
      return true;
    } catch (error) {
      // Changed by somebody else, or two writes met at the item: whoever asks reads again.
      if (error instanceof TransactionCanceledException || isTransient(error)) return false;
      throw error;
    }
  },
});

/** It stays among the open ones, or is one again: rows may be under way, and the sweeper looks there for tasks that are not done. */
const changes = (kind: NewTask['kind'], { status, generation }: Dispatch, now: Instant): Attributes => ({
  status,
  generation,
  openKey: OPEN,
  ...OWN_CHANGES[kind](toIso(now)),
});

const OWN_CHANGES: Readonly<Record<Command, (now: string) => Attributes>> = {
  cancel: (now) => ({ cancelledAt: now }),
  resume: (now) => ({
    resumedAt: now,
    lastProgressAt: now,
    refusedCount: 0,
    failureReason: undefined,
    faultCode: undefined,
    faultSince: undefined,
    stoppedAt: undefined,
  }),
  retry: () => ({}),
  settle: () => ({}),
  export: () => ({}),
};
