import * as z from 'zod';

import type { SweepState } from '../../../application/ports/progress.ts';
import type { StoredRecipient } from '../../../application/ports/recipients.ts';
import { VariablesSchema } from '../../../contracts/json.ts';
import { RECIPIENT_PREFIX } from '../../../contracts/table-keys.ts';
import type { Variables } from '../../../domain/dispatch/content.ts';
import { type Counts, type Deliveries, type Dispatch, DISPATCH_STATUSES } from '../../../domain/dispatch/dispatch.ts';
import { STOP_REASONS } from '../../../domain/dispatch/stop-rule.ts';
import type { Attempt } from '../../../domain/recipient/attempt.ts';
import { DELIVERY_STATES, MAIL_EVENT_KINDS, type MailEvent } from '../../../domain/recipient/delivery.ts';
import type { Recipient } from '../../../domain/recipient/recipient.ts';
import { expiryAfter, fromIso, type Instant, toIso } from '../../../domain/shared/instant.ts';

/** An instant as it is stored. */
export const Iso = z.iso.datetime({ precision: 3 }).transform(fromIso);
/** A number of things. */
export const Count = z.number().int().nonnegative();

/** Records that came twice may have drawn a number below none, or there is none yet: that must not hide the dispatch. */
const Drifting = z
  .number()
  .int()
  .default(0)
  .transform((n) => Math.max(0, n));

const CountsSchema = z.object({
  PENDING: Drifting,
  PROCESSING: Drifting,
  SENT: Drifting,
  FAILED: Drifting,
  UNKNOWN: Drifting,
  CANCELLED: Drifting,
}) satisfies z.ZodType<Counts>;

const DeliveriesSchema = z.object({
  delayed: Drifting,
  'soft-bounced': Drifting,
  delivered: Drifting,
  rejected: Drifting,
  suppressed: Drifting,
  bounced: Drifting,
  complained: Drifting,
}) satisfies z.ZodType<Deliveries>;

/** The dispatch item, as far as this code reads it. */
export const DispatchItem = z.object({
  dispatchId: z.string(),
  adminId: z.string(),
  scenarioId: z.string(),
  recruitId: z.string(),
  templateVersion: z.string().exactOptional(),
  total: Count,
  shards: z.number().int().positive(),
  isTest: z.boolean(),
  status: z.enum(DISPATCH_STATUSES),
  generation: Count,
  createdAt: Iso,
  // Those that were accepted before there was progress have none until the sweeper counts them.
  counts: CountsSchema.exactOptional(),
  deliveries: DeliveriesSchema.exactOptional(),
  countedAt: Iso.exactOptional(),
  countsVersion: Count.exactOptional(),
  lastProgressAt: Iso.exactOptional(),
  sweptAt: Iso.exactOptional(),
  completedAt: Iso.exactOptional(),
  outcome: z.enum(['all-sent', 'partly-sent', 'none-sent']).exactOptional(),
  needsAttention: z.boolean().exactOptional(),
  failureReason: z.enum(STOP_REASONS).exactOptional(),
  faultCode: z.string().exactOptional(),
  faultSince: Iso.exactOptional(),
  stoppedAt: Iso.exactOptional(),
  resumedAt: Iso.exactOptional(),
  statisticsSince: Iso.exactOptional(),
  cancelledAt: Iso.exactOptional(),
  unexpanded: Count.exactOptional(),
  frozenCounts: CountsSchema.exactOptional(),
  frozenGeneration: Count.exactOptional(),
}) satisfies z.ZodType<Dispatch & SweepState>;

const Expiry = { expiresAt: z.number().exactOptional() };
/** The content item: the content itself, or the key of the object that holds it. */
export const ContentItem = z.union([
  z.object({ data: z.instanceof(Uint8Array), ...Expiry }),
  z.object({ object: z.string().min(1), ...Expiry }),
]);

/** A batch item: the key of the object that holds the recipients, and their number. */
export const BatchItem = z.object({ object: z.string().min(1), count: Count });

const StoredAttempt = z.object({
  // A claim appends its entry without reading the row first, so these come with the write that records the outcome.
  round: Count.exactOptional(),
  n: Count.exactOptional(),
  lease: z.string(),
  startedAt: Iso,
  outcome: z.enum(['sent', 'failed', 'retry', 'given-back', 'unclear', 'unsent']).exactOptional(),
  code: z.string().exactOptional(),
  messageId: z.string().exactOptional(),
  ms: z.number().exactOptional(),
  answered: z.boolean().exactOptional(),
});

/** An attempt as it is stored. */
export const toStoredAttempt = (attempt: Attempt) => ({ ...attempt, startedAt: toIso(attempt.startedAt) });

const StoredEvent = z.object({
  kind: z.enum(MAIL_EVENT_KINDS),
  messageId: z.string(),
  at: Iso,
  detail: z.string().exactOptional(),
  suppressed: z.boolean().exactOptional(),
}) satisfies z.ZodType<MailEvent>;

/** An event of SES as it is stored. */
export const toStoredEvent = (event: MailEvent) => ({ ...event, at: toIso(event.at) });

const DeadMessageSchema = z.object({ id: z.string(), sentAt: Iso });

const Row = z.object({
  sk: z.string().startsWith(RECIPIENT_PREFIX),
  email: z.string(),
  // JSON text: DynamoDB's numbers and nesting are narrower than JSON's.
  variables: z.string(),
  round: z.number().int().positive(),
  attemptCount: Count,
  attempts: z.array(StoredAttempt),
  // Absent until the first event.
  delivery: z.enum(DELIVERY_STATES).default('none'),
  events: z.array(StoredEvent).default([]),
  settled: z.object({ as: z.enum(['sent', 'failed']), who: z.string(), at: Iso, note: z.string() }).exactOptional(),
});

const State = z.discriminatedUnion('status', [
  z.object({ status: z.literal('PENDING'), nextAttemptAt: Iso, lastErrorCode: z.string().exactOptional() }),
  z
    .object({ status: z.literal('PROCESSING'), leaseToken: z.string(), leaseUntil: Iso })
    .transform(({ status, leaseToken, leaseUntil }) => ({ status, lease: { token: leaseToken, until: leaseUntil } })),
  z.object({ status: z.literal('SENT'), messageId: z.string().exactOptional(), sentAt: Iso }),
  z.object({
    status: z.literal('FAILED'),
    lastErrorCode: z.string(),
    failedAt: Iso,
    deadMessage: DeadMessageSchema.exactOptional(),
  }),
  z.object({ status: z.literal('UNKNOWN'), lastErrorCode: z.string(), failedAt: Iso }),
  z.object({ status: z.literal('CANCELLED'), cancelledAt: Iso }),
]);

/** Reads a recipient item; throws on one no version of this code wrote. */
export const parseRecipientItem = (item: unknown): StoredRecipient => {
  const { sk, email, variables, round, attemptCount, attempts, delivery, events, settled } = Row.parse(item);
  return {
    applyId: sk.slice(RECIPIENT_PREFIX.length),
    email,
    variables: VariablesSchema.parse(JSON.parse(variables)),
    recipient: { ...State.parse(item), round, attemptCount },
    attempts: attempts.map((attempt) => ({ round, n: attemptCount, ...attempt })),
    delivery,
    events,
    ...(settled !== undefined && { settled }),
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
      return {
        ...tries,
        ...(recipient.messageId !== undefined && { messageId: recipient.messageId }),
        sentAt: toIso(recipient.sentAt),
      };
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
      return { ...tries, cancelledAt: toIso(recipient.cancelledAt) };
  }
};

/** When a recipient that became final in that state expires, in epoch seconds; undefined while it is not final. */
export const expiryOf = (recipient: Recipient, retentionDays: number): number | undefined => {
  switch (recipient.status) {
    case 'PENDING':
    case 'PROCESSING':
      return undefined;
    case 'SENT':
      return expiryAfter(recipient.sentAt, retentionDays);
    case 'FAILED':
    case 'UNKNOWN':
      return expiryAfter(recipient.failedAt, retentionDays);
    case 'CANCELLED':
      return expiryAfter(recipient.cancelledAt, retentionDays);
  }
};
