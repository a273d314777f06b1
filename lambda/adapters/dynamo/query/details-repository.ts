import { type DynamoDBDocumentClient, GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { BadRecipient, DetailsRepository } from '../../../application/ports/queries.ts';
import type { Clock } from '../../../application/ports/system.ts';
import { BATCH_PREFIX, RECIPIENT_PREFIX, TASK_PREFIX } from '../../../contracts/table-keys.ts';
import { DELIVERY_STATES } from '../../../domain/recipient/delivery.ts';
import { RECIPIENT_STATUSES } from '../../../domain/recipient/recipient.ts';
import { BAD_DELIVERIES, BAD_STATUSES } from '../../../domain/sending/trouble.ts';
import { isExpired } from '../client/expiry.ts';
import { parseKey, recipientKey, shardPartition } from '../client/keys.ts';
import { orUnavailable } from '../client/or-unavailable.ts';
import { pendingItems } from '../client/pending-items.ts';
import { parseRecipientItem } from '../recipient/items.ts';
import { TaskItem } from '../task/task-item.ts';

/** Each reads up to 1 MB, some thousand rows. */
const QUERIES_FOR_BAD = 20;

const Key = z.object({ pk: z.string(), sk: z.string() });

/** All that a story needs of a row. The variables are not among it: what a mail says is nobody's business here. */
const SEEN = [
  'sk',
  'email',
  'status',
  'round',
  'attemptCount',
  'attempts',
  'delivery',
  'events',
  'settled',
  'nextAttemptAt',
  'lastErrorCode',
  'leaseToken',
  'leaseUntil',
  'messageId',
  'sentAt',
  'failedAt',
  'cancelledAt',
  'expiresAt',
];

/** What stories are told of, as the table has it. */
export const createDetailsRepository = (client: DynamoDBDocumentClient, tableName: string, clock: Clock): DetailsRepository => ({
  pendingTasks: (dispatchId) =>
    orUnavailable(async () => {
      const items = await pendingItems({ client, tableName }, dispatchId, TASK_PREFIX);
      return items.flatMap((item) => {
        const key = parseKey(Key.parse(item));
        const task = TaskSeen.safeParse(item).data;
        // One that cannot be read is among the dead letters of tasks.
        return key?.kind === 'task' && task?.state === 'open'
          ? [{ task: key.task, kind: task.kind, requestedAt: task.requestedAt }]
          : [];
      });
    }),

  pendingBatches: (dispatchId) =>
    orUnavailable(async () => (await pendingItems({ client, tableName }, dispatchId, BATCH_PREFIX)).length),

  badRecipients: ({ dispatchId, shards }, limit) =>
    orUnavailable(async () => {
      const found: BadRecipient[] = [];
      let queriesLeft = QUERIES_FOR_BAD;
      for (let shard = 0; shard < shards; shard += 1) {
        for await (const { Items = [] } of paginateQuery({ client }, badOf(tableName, shardPartition(dispatchId, shard)))) {
          found.push(...Items.filter((item) => !isExpired(item, clock())).flatMap(toBadRecipient));
          queriesLeft -= 1;
          if (found.length >= limit || queriesLeft === 0) return found.slice(0, limit);
        }
      }
      return found;
    }),

  recipient: (key) =>
    orUnavailable(async () => {
      const { Item } = await client.send(
        new GetCommand({
          TableName: tableName,
          Key: { ...recipientKey(key) },
          ConsistentRead: true,
          ProjectionExpression: SEEN.map((name) => `#${name}`).join(', '),
          // Some of them are reserved words.
          ExpressionAttributeNames: Object.fromEntries(SEEN.map((name) => [`#${name}`, name])),
        }),
      );
      if (Item === undefined || isExpired(Item, clock())) return undefined;
      const { applyId, email, recipient, attempts, delivery, events, settled } = parseRecipientItem({ ...Item, variables: '{}' });
      return { applyId, email, recipient, attempts, delivery, events, ...(settled !== undefined && { settled }) };
    }),
});

const BadRow = z.object({
  sk: z.string().startsWith(RECIPIENT_PREFIX),
  status: z.enum(RECIPIENT_STATUSES),
  delivery: z.enum(DELIVERY_STATES).default('none'),
  lastErrorCode: z.string().exactOptional(),
});

/** A row that no version of this code wrote must not hide the others. */
const toBadRecipient = (item: unknown): BadRecipient[] => {
  const row = BadRow.safeParse(item).data;
  if (row === undefined) return [];
  const { sk, status, delivery, lastErrorCode } = row;
  const applyId = sk.slice(RECIPIENT_PREFIX.length);
  // That of an earlier state may have stayed in the item.
  const isUnsent = status === 'FAILED' || status === 'UNKNOWN';
  return [{ applyId, status, delivery, ...(isUnsent && lastErrorCode !== undefined && { code: lastErrorCode }) }];
};

/** The rows of a shard that somebody may want to look into. */
const badOf = (TableName: string, pk: string) => {
  const bad = [...BAD_STATUSES, ...BAD_DELIVERIES].map((value) => [`:${value}`, value] as const);
  const names = (values: readonly string[]): string => values.map((value) => `:${value}`).join(', ');
  return {
    TableName,
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :recipient)',
    FilterExpression: `#status IN (${names(BAD_STATUSES)}) OR delivery IN (${names(BAD_DELIVERIES)})`,
    ProjectionExpression: 'sk, #status, delivery, lastErrorCode, expiresAt',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':pk': pk, ':recipient': RECIPIENT_PREFIX, ...Object.fromEntries(bad) },
  };
};

const TaskSeen = TaskItem.pick({ kind: true, state: true, requestedAt: true });
