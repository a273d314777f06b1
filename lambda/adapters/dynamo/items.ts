import * as z from 'zod';

import type { StoredRecipient, SweepMarks } from '../../application/ports.ts';
import { VariablesSchema } from '../../contracts/json.ts';
import type { Attempt } from '../../domain/attempt.ts';
import type { Variables } from '../../domain/content.ts';
import { type Counts, type Dispatch, NO_COUNTS } from '../../domain/dispatch.ts';
import { fromIso, type Instant, toIso } from '../../domain/instant.ts';
import { type Recipient, RECIPIENT_STATUSES } from '../../domain/recipient.ts';
import { RECIPIENT_PREFIX } from './keys.ts';

const Iso = z.iso.datetime({ precision: 3 }).transform(fromIso);
const Count = z.number().int().nonnegative();

const CountsSchema = z.object({
  PENDING: Count,
  PROCESSING: Count,
  SENT: Count,
  FAILED: Count,
  UNKNOWN: Count,
  CANCELLED: Count,
}) satisfies z.ZodType<Counts>;

/** The dispatch item, as far as this code reads it. */
export const DispatchItem = z.object({
  dispatchId: z.string(),
  adminId: z.string(),
  scenarioId: z.string(),
  recruitId: z.string(),
  total: Count,
  shards: z.number().int().positive(),
  isTest: z.boolean(),
  status: z.enum(['ACCEPTED', 'IN_PROGRESS', 'COMPLETED', 'STOPPED', 'CANCELLED']),
  generation: Count,
  createdAt: Iso,
  counts: CountsSchema.exactOptional(),
  lastProgressAt: Iso.exactOptional(),
  visitedAt: Iso.exactOptional(),
  completedAt: Iso.exactOptional(),
  outcome: z.enum(['all-sent', 'partly-sent', 'none-sent']).exactOptional(),
}) satisfies z.ZodType<Dispatch & SweepMarks>;

/** The content item. */
export const ContentItem = z.object({ data: z.instanceof(Uint8Array), expiresAt: z.number().exactOptional() });

/** A batch item. */
export const BatchItem = z.object({ data: z.instanceof(Uint8Array), count: Count });

const StoredAttempt = z.object({
  // A claim appends its entry without reading the row first, so these come with the write that records the outcome.
  round: Count.exactOptional(),
  n: Count.exactOptional(),
  lease: z.string(),
  startedAt: Iso,
  outcome: z.enum(['sent', 'failed', 'retry', 'given-back', 'unclear']).exactOptional(),
  code: z.string().exactOptional(),
  messageId: z.string().exactOptional(),
  ms: z.number().exactOptional(),
});

/** An attempt as it is stored. */
export const toStoredAttempt = (attempt: Attempt) => ({ ...attempt, startedAt: toIso(attempt.startedAt) });

const DeadMessageSchema = z.object({ id: z.string(), sentAt: Iso });

const Row = z.object({
  sk: z.string().startsWith(RECIPIENT_PREFIX),
  email: z.string(),
  // JSON text: DynamoDB's numbers and nesting are narrower than JSON's.
  variables: z.string(),
  round: z.number().int().positive(),
  attemptCount: Count,
  attempts: z.array(StoredAttempt),
});

const State = z.discriminatedUnion('status', [
  z.object({ status: z.literal('PENDING'), nextAttemptAt: Iso, lastErrorCode: z.string().exactOptional() }),
  z
    .object({ status: z.literal('PROCESSING'), leaseToken: z.string(), leaseUntil: Iso })
    .transform(({ status, leaseToken, leaseUntil }) => ({ status, lease: { token: leaseToken, until: leaseUntil } })),
  z.object({ status: z.literal('SENT'), messageId: z.string(), sentAt: Iso }),
  z.object({
    status: z.literal('FAILED'),
    lastErrorCode: z.string(),
    failedAt: Iso,
    deadMessage: DeadMessageSchema.exactOptional(),
  }),
  z.object({ status: z.literal('UNKNOWN'), lastErrorCode: z.string(), failedAt: Iso }),
  z.object({ status: z.literal('CANCELLED') }),
]);

/** Reads a recipient item; throws on one no version of this code wrote. */
export const parseRecipientItem = (item: unknown): StoredRecipient => {
  const { sk, email, variables, round, attemptCount, attempts } = Row.parse(item);
  return {
    applyId: sk.slice(RECIPIENT_PREFIX.length),
    email,
    variables: VariablesSchema.parse(JSON.parse(variables)),
    recipient: { ...State.parse(item), round, attemptCount },
    attempts: attempts.map((attempt) => ({ round, n: attemptCount, ...attempt })),
  };
};

/** The attributes of a recipient item when it is put, keys apart. */
export const newRecipientItem = (email: string, variables: Variables, now: Instant) => ({
  email,
  variables: JSON.stringify(variables),
  status: 'PENDING',
  round: 1,
  attemptCount: 0,
  nextAttemptAt: toIso(now),
  attempts: [],
});

/** The attributes that a state sets. Those of the state before may stay in the item; only the current state's are read. */
export const stateAttributes = (recipient: Recipient): Record<string, unknown> => {
  const { status, round, attemptCount } = recipient;
  const tries = { status, round, attemptCount };
  switch (recipient.status) {
    case 'PENDING':
      return {
        ...tries,
        nextAttemptAt: toIso(recipient.nextAttemptAt),
        ...(recipient.lastErrorCode !== undefined && { lastErrorCode: recipient.lastErrorCode }),
      };
    case 'PROCESSING':
      return { ...tries, leaseToken: recipient.lease.token, leaseUntil: toIso(recipient.lease.until) };
    case 'SENT':
      return { ...tries, messageId: recipient.messageId, sentAt: toIso(recipient.sentAt) };
    case 'FAILED':
      return {
        ...tries,
        lastErrorCode: recipient.lastErrorCode,
        failedAt: toIso(recipient.failedAt),
        ...(recipient.deadMessage && { deadMessage: { ...recipient.deadMessage, sentAt: toIso(recipient.deadMessage.sentAt) } }),
      };
    case 'UNKNOWN':
      return { ...tries, lastErrorCode: recipient.lastErrorCode, failedAt: toIso(recipient.failedAt) };
    case 'CANCELLED':
      return tries;
  }
};

/** What counting and the sweeper need of a recipient item. */
export const RowGlance = z.object({
  pk: z.string(),
  sk: z.string(),
  status: z.enum(RECIPIENT_STATUSES),
  nextAttemptAt: Iso,
  leaseUntil: Iso.exactOptional(),
});

/** Attributes of {@link RowGlance}, as a projection; `status` is a reserved word. */
export const GLANCE = {
  ProjectionExpression: 'pk, sk, #status, nextAttemptAt, leaseUntil',
  ExpressionAttributeNames: { '#status': 'status' },
} as const;

/** Counts rows by their status. */
export const countRowGlances = (rows: readonly z.output<typeof RowGlance>[]): Counts => {
  const counts = { ...NO_COUNTS };
  for (const { status } of rows) counts[status] += 1;
  return counts;
};
