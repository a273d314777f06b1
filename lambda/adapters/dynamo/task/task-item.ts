import * as z from 'zod';

import type { NewTask, OpenTask } from '../../../application/ports/tasks.ts';
import { RECIPIENT_STATUSES } from '../../../domain/recipient/recipient.ts';
import { toIso } from '../../../domain/shared/instant.ts';
import { Count, Iso } from '../recipient/items.ts';

const Cursor = z.object({ shard: z.number().int().nonnegative(), after: z.string().exactOptional() });

/** A task item. */
export const TaskItem = z.object({
  kind: z.enum(['cancel', 'resume', 'retry', 'settle', 'export']),
  requestedAt: Iso,
  requestedBy: z.string(),
  state: z.enum(['open', 'done']),
  cursor: Cursor.exactOptional(),
  step: z.string().exactOptional(),
  faultCode: z.string().exactOptional(),
  faultSince: Iso.exactOptional(),
  statuses: z.array(z.enum(RECIPIENT_STATUSES)).exactOptional(),
  word: z.object({ as: z.enum(['sent', 'failed']), note: z.string() }).exactOptional(),
  parts: z.array(z.string()).exactOptional(),
  written: Count.exactOptional(),
  doneAt: Iso.exactOptional(),
}) satisfies z.ZodType<OpenTask>;

/** The attributes of a task item when it is put, keys apart. */
export const newTaskItem = ({ kind, requestedAt, requestedBy, faultCode, faultSince, statuses, word }: NewTask) => ({
  kind,
  requestedAt: toIso(requestedAt),
  requestedBy,
  state: 'open',
  ...(faultCode !== undefined && { faultCode }),
  ...(faultSince !== undefined && { faultSince: toIso(faultSince) }),
  ...(statuses !== undefined && { statuses }),
  ...(word !== undefined && { word }),
});
