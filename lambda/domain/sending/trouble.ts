import { type Dispatch, needsAttention, type RowCounts, wasCounted } from '../dispatch/dispatch.ts';
import type { DeliveryState } from '../recipient/delivery.ts';
import type { RecipientStatus } from '../recipient/recipient.ts';
import type { Instant } from '../shared/instant.ts';

/** What can be wrong with a dispatch, the worst first. */
export const TROUBLE_KINDS = ['stopped', 'recipients', 'unmoved'] as const;

/** Why a person should look at a dispatch: it was stopped, some of its mails were not sent, or nothing of it moves. */
export interface Trouble {
  readonly kind: (typeof TROUBLE_KINDS)[number];
  /** When it was stopped or ended, or else when it last moved. */
  readonly since: Instant;
}

/** Two attempts may be an hour apart. */
const UNMOVED_MS = 3_600_000;

/** What is wrong with a dispatch that is not finished or needs attention; undefined: nothing. */
export const troubleOf = (dispatch: Dispatch, now: Instant): Trouble | undefined => {
  const { status, counts, deliveries, createdAt, resumedAt = 0, cancelledAt = 0, lastProgressAt = 0 } = dispatch;
  const movedAt = Math.max(createdAt, resumedAt, cancelledAt, lastProgressAt);
  if (status === 'STOPPED') return { kind: 'stopped', since: dispatch.stoppedAt ?? movedAt };
  const isOver = wasCounted(dispatch);
  const isShort = isOver ? dispatch.needsAttention : counts && needsAttention(counts, deliveries);
  if (isShort === true) return { kind: 'recipients', since: dispatch.completedAt ?? movedAt };
  if (isOver || now - movedAt < UNMOVED_MS) return undefined;
  return { kind: 'unmoved', since: movedAt };
};

/** The worst kind first, and of each kind the newest dispatch. */
export const compareTroubles = (
  a: { readonly trouble: Trouble; readonly dispatch: Dispatch },
  b: { readonly trouble: Trouble; readonly dispatch: Dispatch },
): number =>
  TROUBLE_KINDS.indexOf(a.trouble.kind) - TROUBLE_KINDS.indexOf(b.trouble.kind) || b.dispatch.createdAt - a.dispatch.createdAt;

/** What of a recipient's mail a person may want to look into. */
export const BAD_STATUSES = ['FAILED', 'UNKNOWN'] as const satisfies readonly RecipientStatus[];
export const BAD_DELIVERIES = ['rejected', 'suppressed', 'bounced', 'complained'] as const satisfies readonly DeliveryState[];

/** How many recipients have such a mail. */
export const countBad = ({ counts, deliveries }: RowCounts): number =>
  [...BAD_STATUSES.map((status) => counts[status]), ...BAD_DELIVERIES.map((state) => deliveries[state])].reduce((a, b) => a + b);

/** Recovery passes every five minutes; the alarm waits as long. */
const PASS_OVERDUE_MS = 15 * 60_000;

/** Whether recovery should have passed again by now. @param lastPassAt undefined: it never passed */
export const isPassOverdue = (lastPassAt: Instant | undefined, now: Instant): boolean =>
  lastPassAt === undefined || now - lastPassAt > PASS_OVERDUE_MS;
