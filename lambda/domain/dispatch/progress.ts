import type { DeliveryState } from '../recipient/delivery.ts';
import type { RecipientStatus } from '../recipient/recipient.ts';
import { addCounts, addDeliveries, NO_COUNTS, NO_DELIVERIES, type RowCounts } from './dispatch.ts';

/** What of a recipient is counted. */
export interface Counted {
  readonly status: RecipientStatus;
  readonly delivery: DeliveryState;
}

/** Nothing changed. */
export const NO_CHANGE: RowCounts = { counts: NO_COUNTS, deliveries: NO_DELIVERIES };

/**
 * What a recipient's change adds to the counts of its dispatch, negative where it leaves a state. A new row adds nothing, as it
 * was counted as PENDING at accept, and a row that is deleted neither: the counts of expired and erased rows are frozen.
 */
export const deltaOf = (before: Counted | undefined, after: Counted | undefined): RowCounts => {
  if (before === undefined || after === undefined) return NO_CHANGE;
  const counts = { ...NO_COUNTS };
  counts[before.status] -= 1;
  counts[after.status] += 1;
  const deliveries = { ...NO_DELIVERIES };
  if (before.delivery !== 'none') deliveries[before.delivery] -= 1;
  if (after.delivery !== 'none') deliveries[after.delivery] += 1;
  return { counts, deliveries };
};

/** Changes of one dispatch taken together; the order does not matter. */
export const addRowCounts = (a: RowCounts, b: RowCounts): RowCounts => ({
  counts: addCounts(a.counts, b.counts),
  deliveries: addDeliveries(a.deliveries, b.deliveries),
});

const changesAny = (numbers: Readonly<Record<string, number>>): boolean => Object.values(numbers).some((n) => n !== 0);

/** Whether recipients moved from a state to another. */
export const changesCounts = ({ counts }: RowCounts): boolean => changesAny(counts);

/** Whether something new is known of mails that SES took. */
export const changesDeliveries = ({ deliveries }: RowCounts): boolean => changesAny(deliveries);

/** Whether a change is of an attempt to send: a worker took the recipient, or let it go. */
export const isOfAttempt = (before: Counted | undefined, after: Counted | undefined): boolean =>
  before?.status === 'PROCESSING' || after?.status === 'PROCESSING';
