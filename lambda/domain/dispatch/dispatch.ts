import type { DeliveryState } from '../recipient/delivery.ts';
import { isFinal, RECIPIENT_STATUSES, type RecipientStatus } from '../recipient/recipient.ts';
import type { Instant } from '../shared/instant.ts';
import { type BounceStatistics, exceededRate, type StopReason } from './stop-rule.ts';

/** How far a dispatch has got. */
export const DISPATCH_STATUSES = ['ACCEPTED', 'IN_PROGRESS', 'COMPLETED', 'STOPPED', 'CANCELLED'] as const;
export type DispatchStatus = (typeof DISPATCH_STATUSES)[number];

/** What a completed dispatch came to. */
export type DispatchOutcome = 'all-sent' | 'partly-sent' | 'none-sent';

/** Recipients by state. */
export type Counts = Readonly<Record<RecipientStatus, number>>;

/** Recipients by what is known of the delivery of their mail; those of whom nothing is known are not counted. */
export type Deliveries = Readonly<Record<Exclude<DeliveryState, 'none'>, number>>;

/** Recipients counted both ways. */
export interface RowCounts {
  readonly counts: Counts;
  readonly deliveries: Deliveries;
}

/** An accepted request, without its content and recipients. */
export interface Dispatch {
  readonly dispatchId: string;
  readonly adminId: string;
  readonly scenarioId: string;
  readonly recruitId: string;
  /** Hash of the template that was copied; absent in dispatches that were accepted before there was one. */
  readonly templateVersion?: string;
  readonly total: number;
  readonly shards: number;
  readonly isTest: boolean;
  readonly status: DispatchStatus;
  /** Grows by 1 whenever a final row is reopened or changed, so that a check made before it cannot complete the dispatch after it. */
  readonly generation: number;
  readonly createdAt: Instant;
  /** As progress has counted up to now; recipients that are still in a batch are PENDING. Exact once it is completed. */
  readonly counts?: Counts;
  readonly deliveries?: Deliveries;
  /** When progress last added to the counts. */
  readonly countedAt?: Instant;
  /** Grows by 1 whenever it does, so that a count of the rows made before it cannot replace what it added. */
  readonly countsVersion?: number;
  /** When it was last seen that a recipient changed its state. */
  readonly lastProgressAt?: Instant;
  readonly completedAt?: Instant;
  readonly outcome?: DispatchOutcome;
  /** Some recipients failed or are unknown, or too many mails bounced or were complained about: a person should look. */
  readonly needsAttention?: boolean;
  /** Why a STOPPED dispatch was stopped, and what a resume has to put right. */
  readonly failureReason?: StopReason;
  readonly faultCode?: string;
  readonly faultSince?: Instant;
  readonly stoppedAt?: Instant;
  readonly cancelledAt?: Instant;
  /** Recipients whose batch was removed when the dispatch was cancelled: they are CANCELLED, and have no row. */
  readonly unexpanded?: number;
  /** Exact counts of all recipients at its last end, kept up with changes since; without recipients that were reopened since. */
  readonly frozenCounts?: Counts;
  /** Its generation at that end. */
  readonly frozenGeneration?: number;
  /** The rules that stop a dispatch count from here. */
  readonly resumedAt?: Instant;
  /** When it was taken up again after it was completed: bounces before say nothing about the mails since. */
  readonly statisticsSince?: Instant;
}

/** Whether recipients of a dispatch in that state are sent to. */
export const isActive = (status: DispatchStatus): boolean => status !== 'STOPPED' && status !== 'CANCELLED';

/** Whether it is on its way to its end. */
export const isSending = (status: DispatchStatus): boolean => status === 'ACCEPTED' || status === 'IN_PROGRESS';

/** Whether all its rows were final once and were counted then: from there on, rows may be missing since they expired. */
export const wasCounted = ({ status, needsAttention: attention }: Pick<Dispatch, 'status' | 'needsAttention'>): boolean =>
  status === 'COMPLETED' || (status === 'CANCELLED' && attention !== undefined);

/** When its rows were all final, as far as it is known: a cancelled dispatch makes no progress afterwards. */
export const endedAt = ({ completedAt, lastProgressAt, createdAt }: Dispatch): Instant =>
  completedAt ?? lastProgressAt ?? createdAt;

/** From when on sent mails count in its bounce statistics. */
export const statisticsFrom = ({
  resumedAt = 0,
  statisticsSince = 0,
}: Pick<Dispatch, 'resumedAt' | 'statisticsSince'>): Instant => Math.max(resumedAt, statisticsSince);

/** The bounce statistics of all its mails that are counted. */
export const bounceStatisticsOf = (counts: Counts, { bounced, complained }: Deliveries): BounceStatistics => ({
  sent: counts.SENT,
  bounced,
  complained,
});

/** No recipients yet. */
export const NO_COUNTS: Counts = { PENDING: 0, PROCESSING: 0, SENT: 0, FAILED: 0, UNKNOWN: 0, CANCELLED: 0 };

/** Nothing known of any mail. */
export const NO_DELIVERIES: Deliveries = {
  delayed: 0,
  'soft-bounced': 0,
  delivered: 0,
  rejected: 0,
  suppressed: 0,
  bounced: 0,
  complained: 0,
};

/** How a dispatch begins. */
export const countsAtAccept = (total: number): RowCounts => ({
  counts: { ...NO_COUNTS, PENDING: total },
  deliveries: NO_DELIVERIES,
});

/** Adds the counts of two shards. */
export const addCounts = (a: Counts, b: Counts): Counts => ({
  PENDING: a.PENDING + b.PENDING,
  PROCESSING: a.PROCESSING + b.PROCESSING,
  SENT: a.SENT + b.SENT,
  FAILED: a.FAILED + b.FAILED,
  UNKNOWN: a.UNKNOWN + b.UNKNOWN,
  CANCELLED: a.CANCELLED + b.CANCELLED,
});

/** The same for deliveries. */
export const addDeliveries = (a: Deliveries, b: Deliveries): Deliveries => ({
  delayed: a.delayed + b.delayed,
  'soft-bounced': a['soft-bounced'] + b['soft-bounced'],
  delivered: a.delivered + b.delivered,
  rejected: a.rejected + b.rejected,
  suppressed: a.suppressed + b.suppressed,
  bounced: a.bounced + b.bounced,
  complained: a.complained + b.complained,
});

/** Rows that exist; less than the dispatch's total while batches are not expanded. */
export const countRows = (counts: Counts): number => RECIPIENT_STATUSES.reduce((sum, status) => sum + counts[status], 0);

/** Recipients that are still in a batch have no row, and are as pending as those that have one. */
export const withBatches = (total: number, counts: Counts): Counts => ({
  ...counts,
  PENDING: counts.PENDING + Math.max(0, total - countRows(counts)),
});

/** Recipients of a cancelled dispatch whose batch was never expanded have no row, and are cancelled as those that have one. */
export const withUnexpanded = ({ total, unexpanded = 0 }: Pick<Dispatch, 'total' | 'unexpanded'>, counts: Counts): Counts => ({
  ...counts,
  // A batch may have been expanded in part when it was removed.
  CANCELLED: counts.CANCELLED + Math.min(unexpanded, Math.max(0, total - countRows(counts))),
});

/** What the rows say of the whole. */
export const outcomeOf = (counts: Counts): DispatchOutcome => {
  if (counts.SENT === countRows(counts)) return 'all-sent';
  return counts.SENT > 0 ? 'partly-sent' : 'none-sent';
};

/** Whether a person should look at what came of it. */
export const needsAttention = (counts: Counts, deliveries: Deliveries = NO_DELIVERIES): boolean =>
  counts.FAILED + counts.UNKNOWN > 0 || exceededRate(bounceStatisticsOf(counts, deliveries)) !== undefined;

/** Only rows decide: every recipient is there, and each one is final. Counters alone never complete a dispatch. */
export const isComplete = (total: number, counts: Counts): boolean =>
  countRows(counts) === total && RECIPIENT_STATUSES.every((status) => isFinal(status) || counts[status] === 0);

/** The status to show, given the rows as they are now: the stored one is brought up to date by the sweeper. */
export const statusNow = (dispatch: Pick<Dispatch, 'status' | 'total'>, counts: Counts): DispatchStatus => {
  if (!isSending(dispatch.status)) return dispatch.status;
  if (isComplete(dispatch.total, counts)) return 'COMPLETED';
  return countRows(counts) > counts.PENDING ? 'IN_PROGRESS' : dispatch.status;
};
