import { type DynamoDBDocumentClient, paginateQuery } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import { RECIPIENT_PREFIX } from '../../../contracts/table-keys.ts';
import { type Counts, NO_COUNTS, NO_DELIVERIES, type RowCounts } from '../../../domain/dispatch/dispatch.ts';
import { isReopened, type LastEnd } from '../../../domain/dispatch/frozen-counts.ts';
import type { BounceStatistics } from '../../../domain/dispatch/stop-rule.ts';
import { DELIVERY_STATES } from '../../../domain/recipient/delivery.ts';
import { RECIPIENT_STATUSES } from '../../../domain/recipient/recipient.ts';
import type { Instant } from '../../../domain/shared/instant.ts';
import { isExpired } from '../client/expiry.ts';
import { Count, Iso } from './items.ts';

/** What counting, the rules that stop a dispatch, and the sweeper need of a recipient item. */
export const RowProjection = z.object({
  pk: z.string(),
  sk: z.string(),
  status: z.enum(RECIPIENT_STATUSES),
  delivery: z.enum(DELIVERY_STATES).default('none'),
  nextAttemptAt: Iso,
  leaseUntil: Iso.exactOptional(),
  messageId: z.string().exactOptional(),
  sentAt: Iso.exactOptional(),
  failedAt: Iso.exactOptional(),
  lastErrorCode: z.string().exactOptional(),
  expiresAt: z.number().exactOptional(),
  reopenedAfter: Count.exactOptional(),
});

/** A look at a row. Attributes of an earlier state may be among them, so the status says which of them count. */
export type RowProjection = z.output<typeof RowProjection>;

/**
 * The rows of one shard, read consistently. One that no version of this code wrote is left out, and so is one that has expired
 * and that TTL has not deleted yet.
 * @param hasTime asked before every page; throws when there is none
 */
export const projectShard = async (
  client: DynamoDBDocumentClient,
  TableName: string,
  pk: string,
  now: Instant,
  hasTime: () => boolean = () => true,
): Promise<RowProjection[]> => {
  const rows: RowProjection[] = [];
  const pages = paginateQuery(
    { client },
    {
      TableName,
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :recipient)',
      ExpressionAttributeValues: { ':pk': pk, ':recipient': RECIPIENT_PREFIX },
      ProjectionExpression:
        'pk, sk, #status, delivery, nextAttemptAt, leaseUntil, messageId, sentAt, failedAt, lastErrorCode, expiresAt, reopenedAfter',
      // A reserved word.
      ExpressionAttributeNames: { '#status': 'status' },
    },
  );
  const next = () => {
    if (!hasTime()) throw new Error('There is no time to read all rows.');
    return pages.next();
  };
  for (let page = await next(); page.done !== true; page = await next()) {
    const parsed = (page.value.Items ?? []).flatMap((item) => RowProjection.safeParse(item).data ?? []);
    rows.push(...parsed.filter((row) => !isExpired(row, now)));
  }
  return rows;
};

/** Counts rows by their status, and by what is known of the delivery. */
export const countRowProjections = (rows: readonly Pick<RowProjection, 'status' | 'delivery'>[]): RowCounts => {
  const counts = { ...NO_COUNTS };
  const deliveries = { ...NO_DELIVERIES };
  for (const { status, delivery } of rows) {
    counts[status] += 1;
    if (delivery !== 'none') deliveries[delivery] += 1;
  }
  return { counts, deliveries };
};

/** Counts the rows that were not reopened since the last end of their dispatch. */
export const countFrozen = (
  rows: readonly Pick<RowProjection, 'status' | 'delivery' | 'reopenedAfter'>[],
  end: LastEnd,
): Counts => countRowProjections(rows.filter(({ reopenedAfter }) => !isReopened(reopenedAfter, end))).counts;

/** What became of the mails that SES took from then on. */
export const bounceStatisticsSince = (rows: readonly RowProjection[], since: Instant): BounceStatistics => {
  const sent = rows.filter(({ status, sentAt = 0 }) => status === 'SENT' && sentAt >= since);
  const count = (state: RowProjection['delivery']): number => sent.filter(({ delivery }) => delivery === state).length;
  return { sent: sent.length, bounced: count('bounced'), complained: count('complained') };
};

/** When it was known what became of a recipient's mail; a cancelled one says nothing about its dispatch's mails. */
export const endedAt = ({ status, sentAt, failedAt }: RowProjection): Instant | undefined => {
  switch (status) {
    case 'SENT':
      return sentAt;
    case 'FAILED':
    case 'UNKNOWN':
      return failedAt;
    case 'PENDING':
    case 'PROCESSING':
    case 'CANCELLED':
      return undefined;
  }
};

/** Since when a row has been overdue; undefined: it is not. */
export const overdueSince = ({ status, nextAttemptAt, leaseUntil }: RowProjection, now: Instant): Instant | undefined => {
  if (status !== 'PENDING' && status !== 'PROCESSING') return undefined;
  const since = status === 'PENDING' ? nextAttemptAt : leaseUntil;
  return since !== undefined && since <= now ? since : undefined;
};
