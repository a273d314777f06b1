import * as z from 'zod';

import type { DispatchEvent } from '../../domain/dispatch/dispatch-event.ts';
import { STOP_REASONS } from '../../domain/dispatch/stop-rule.ts';
import { toIso } from '../../domain/shared/instant.ts';
import { CountsView, DeliveriesView, DispatchView } from '../http/response/dispatch-view.ts';

/** The source of all our events. */
export const NEWS_SOURCE = 'mail-dispatch';

/** The detail-type of each kind. */
export const NEWS_TYPES = {
  completed: 'Dispatch Completed',
  stopped: 'Dispatch Stopped',
  'needs-attention': 'Dispatch Needs Attention',
} as const satisfies Readonly<Record<DispatchEvent['kind'], string>>;

/**
 * The detail of an event: ids, codes and numbers, never a person. It comes at least once; one that comes again has the same id.
 * Counts are as they were when the dispatch changed.
 */
export const PublishedEvent = z.object({
  version: z.literal(1),
  id: z.string(),
  dispatchId: z.string(),
  status: DispatchView.shape.status,
  outcome: DispatchView.shape.outcome,
  needsAttention: z.boolean().exactOptional(),
  failureReason: z.enum(STOP_REASONS).exactOptional(),
  total: z.int().nonnegative(),
  counts: CountsView.exactOptional(),
  deliveries: DeliveriesView.exactOptional(),
  generation: z.int().nonnegative(),
  at: z.iso.datetime({ precision: 3 }),
});
export type PublishedEvent = z.output<typeof PublishedEvent>;

export const toPublishedEvent = ({ id, dispatch, at }: DispatchEvent): PublishedEvent => {
  const { dispatchId, status, outcome, needsAttention, failureReason, total, counts, deliveries, generation } = dispatch;
  return {
    version: 1,
    id,
    dispatchId,
    status,
    ...(outcome !== undefined && { outcome }),
    ...(needsAttention !== undefined && { needsAttention }),
    // One that was resumed may still have it from before.
    ...(status === 'STOPPED' && failureReason !== undefined && { failureReason }),
    total,
    ...(counts && { counts }),
    ...(deliveries && { deliveries }),
    generation,
    at: toIso(at),
  };
};
