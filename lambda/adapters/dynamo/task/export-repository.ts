import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';

import type { ExportRepository } from '../../../application/ports/tasks.ts';
import { taskKey } from '../client/keys.ts';
import { orUnavailable } from '../client/or-unavailable.ts';
import { TaskItem } from './task-item.ts';

/** Exports by their tasks. */
export const createFindExport =
  (client: DynamoDBDocumentClient, tableName: string): ExportRepository['find'] =>
  (key) =>
    orUnavailable(async () => {
      const { Item } = await client.send(
        new GetCommand({ TableName: tableName, Key: { ...taskKey(key) }, ConsistentRead: true }),
      );
      const task = Item && TaskItem.parse(Item);
      if (task?.kind !== 'export') return undefined;
      const { statuses, requestedAt, written = 0, doneAt, state } = task;
      return {
        requestedAt,
        written,
        ...(statuses !== undefined && { statuses }),
        ...(state === 'done' && { doneAt: doneAt ?? requestedAt }),
      };
    });
