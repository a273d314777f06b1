import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';

import { Unavailable } from '../../application/accept-ports.ts';
import type { ExportRepository } from '../../application/operate-ports.ts';
import { taskKey } from './keys.ts';
import { isPassing } from './statements.ts';
import { TaskItem } from './task-item.ts';

const RETRY_AFTER_SECONDS = 1;

/** Exports by their tasks. */
export const createFindExport =
  (client: DynamoDBDocumentClient, tableName: string): ExportRepository['find'] =>
  async (key) => {
    try {
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
    } catch (error) {
      if (isPassing(error)) throw new Unavailable('the table', RETRY_AFTER_SECONDS, error);
      throw error;
    }
  };
