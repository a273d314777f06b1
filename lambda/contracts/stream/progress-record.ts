import * as z from 'zod';

import { DISPATCH_STATUSES } from '../../domain/dispatch/dispatch.ts';
import type { EventSubject } from '../../domain/dispatch/dispatch-event.ts';
import type { Counted } from '../../domain/dispatch/progress.ts';
import { STOP_REASONS } from '../../domain/dispatch/stop-rule.ts';
import { DELIVERY_STATES } from '../../domain/recipient/delivery.ts';
import { RECIPIENT_STATUSES } from '../../domain/recipient/recipient.ts';
import { fromIso } from '../../domain/shared/instant.ts';

/** Images come as DynamoDB keeps them: `{ "status": { "S": "SENT" } }`. */
const Text = z.object({ S: z.string() }).transform(({ S }) => S);
const Flag = z.object({ BOOL: z.boolean() }).transform(({ BOOL }) => BOOL);
const Whole = z.object({ N: z.coerce.number().int() }).transform(({ N }) => N);
/** Records that came twice may have drawn a count below none, or there is none yet. */
const Count = Whole.transform((n) => Math.max(0, n)).default(0);
const oneOf = <const T extends readonly string[]>(values: T) => Text.pipe(z.enum(values));

const CountsImage = z
  .object({
    M: z.object({ PENDING: Count, PROCESSING: Count, SENT: Count, FAILED: Count, UNKNOWN: Count, CANCELLED: Count }),
  })
  .transform(({ M }) => M);

const DeliveriesImage = z
  .object({
    M: z.object({
      delayed: Count,
      'soft-bounced': Count,
      delivered: Count,
      rejected: Count,
      suppressed: Count,
      bounced: Count,
      complained: Count,
    }),
  })
  .transform(({ M }) => M);

/** A recipient's image, as far as it is counted. */
export const RecipientImage = z.object({
  status: oneOf(RECIPIENT_STATUSES),
  delivery: oneOf(DELIVERY_STATES).default('none'),
}) satisfies z.ZodType<Counted>;

/** A dispatch's image, as far as others are told of it. */
export const DispatchImage = z.object({
  dispatchId: Text,
  status: oneOf(DISPATCH_STATUSES),
  total: Whole,
  generation: Whole,
  outcome: oneOf(['all-sent', 'partly-sent', 'none-sent']).exactOptional(),
  needsAttention: Flag.exactOptional(),
  failureReason: oneOf(STOP_REASONS).exactOptional(),
  stoppedAt: Text.transform(fromIso).exactOptional(),
  counts: CountsImage.exactOptional(),
  deliveries: DeliveriesImage.exactOptional(),
}) satisfies z.ZodType<EventSubject>;

/** The image of a task that goes on no more and reopened recipients. */
export const ReopenedImage = z.object({ kind: oneOf(['retry', 'resume']), state: oneOf(['done']) });

const Key = z.object({ S: z.string() });

/** A record of the table's stream, as far as progress looks at every one. */
export const ProgressRecordShape = z.object({
  eventName: z.enum(['INSERT', 'MODIFY', 'REMOVE']),
  dynamodb: z.object({
    /** Epoch seconds. */
    ApproximateCreationDateTime: z.number(),
    Keys: z.object({ pk: Key, sk: Key }),
    OldImage: z.unknown().optional(),
    NewImage: z.unknown().optional(),
  }),
});
