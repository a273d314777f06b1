import * as z from 'zod';

import type { RecipientInput } from '../../../domain/dispatch/content.ts';
import { type Dispatch, DISPATCH_STATUSES, type RowCounts } from '../../../domain/dispatch/dispatch.ts';
import type { SendEstimate } from '../../../domain/dispatch/send-estimate.ts';
import { STOP_REASONS } from '../../../domain/dispatch/stop-rule.ts';
import type { Attempt } from '../../../domain/recipient/attempt.ts';
import { DELIVERY_STATES, type DeliveryState, MAIL_EVENT_KINDS, type MailEvent } from '../../../domain/recipient/delivery.ts';
import { type CopyRisk, copyRisk, POSSIBLE_COPY_REASONS, possibleCopies } from '../../../domain/recipient/possible-copies.ts';
import { type Recipient, RECIPIENT_STATUSES } from '../../../domain/recipient/recipient.ts';
import type { Settlement } from '../../../domain/recipient/settlement.ts';
import { toIso } from '../../../domain/shared/instant.ts';
import { EstimateView, toEstimateView } from './estimate-view.ts';

const Iso = z.iso.datetime({ precision: 3 });
const Count = z.int().nonnegative();

/** A dispatch as the API shows it. */
export const DispatchView = z.object({
  id: z.string(),
  status: z.enum(DISPATCH_STATUSES),
  total: Count,
  scenarioId: z.string(),
  recruitId: z.string(),
  /** Names the template that was copied when it was accepted. */
  templateVersion: z.string().exactOptional(),
  adminId: z.string(),
  isTest: z.boolean(),
  createdAt: Iso,
  completedAt: Iso.exactOptional(),
  outcome: z.enum(['all-sent', 'partly-sent', 'none-sent']).exactOptional(),
  /** Some recipients failed, nobody knows whether they were sent to, or too many mails bounced permanently or were complained about. */
  needsAttention: z.boolean().exactOptional(),
  /** Why it was stopped, the code of the failures if they have one in common, and when. */
  failureReason: z.enum(STOP_REASONS).exactOptional(),
  faultCode: z.string().exactOptional(),
  stoppedAt: Iso.exactOptional(),
  cancelledAt: Iso.exactOptional(),
  links: z.object({ self: z.string(), recipients: z.string() }),
});
export type DispatchView = z.output<typeof DispatchView>;

/** What an accepted request is answered with. */
export const AcceptedView = DispatchView.extend({
  /** When all will be sent, if that can be told. */
  estimate: EstimateView.nullable(),
});

/** Recipients by state. */
export const CountsView = z.object({
  PENDING: Count,
  PROCESSING: Count,
  SENT: Count,
  FAILED: Count,
  UNKNOWN: Count,
  CANCELLED: Count,
});

/** Recipients by what is known of the delivery of their mail. */
export const DeliveriesView = z.object({
  delayed: Count,
  'soft-bounced': Count,
  delivered: Count,
  rejected: Count,
  suppressed: Count,
  bounced: Count,
  complained: Count,
});

/** A dispatch with its recipients counted. */
export const DispatchNowView = DispatchView.extend({
  counts: CountsView.describe(
    'Recipients by state. Up to 1,000 recipients they are counted for this answer; of larger dispatches they, and the status, are as they were counted some seconds ago.',
  ),
  deliveries: DeliveriesView.describe(
    'Recipients of whose mail more is known than that SES took it, by the heaviest of what is known. Counted as `counts` are.',
  ),
});

/** Where a dispatch is found. */
export const dispatchPath = (dispatchId: string): string => `/dispatches/${dispatchId}`;

export const toDispatchView = (dispatch: Dispatch): DispatchView => ({
  id: dispatch.dispatchId,
  status: dispatch.status,
  total: dispatch.total,
  scenarioId: dispatch.scenarioId,
  recruitId: dispatch.recruitId,
  ...(dispatch.templateVersion !== undefined && { templateVersion: dispatch.templateVersion }),
  adminId: dispatch.adminId,
  isTest: dispatch.isTest,
  createdAt: toIso(dispatch.createdAt),
  ...(dispatch.completedAt !== undefined && { completedAt: toIso(dispatch.completedAt) }),
  ...(dispatch.outcome !== undefined && { outcome: dispatch.outcome }),
  ...(dispatch.needsAttention !== undefined && { needsAttention: dispatch.needsAttention }),
  ...(dispatch.status === 'STOPPED' && toStopView(dispatch)),
  ...(dispatch.cancelledAt !== undefined && { cancelledAt: toIso(dispatch.cancelledAt) }),
  links: { self: dispatchPath(dispatch.dispatchId), recipients: `${dispatchPath(dispatch.dispatchId)}/recipients` },
});

/** A resumed dispatch may still have these from before. */
const toStopView = ({ failureReason, faultCode, stoppedAt }: Dispatch): Partial<DispatchView> => ({
  ...(failureReason !== undefined && { failureReason }),
  ...(faultCode !== undefined && { faultCode }),
  ...(stoppedAt !== undefined && { stoppedAt: toIso(stoppedAt) }),
});

export const toAcceptedView = (dispatch: Dispatch, estimate?: SendEstimate): z.output<typeof AcceptedView> => ({
  ...toDispatchView(dispatch),
  estimate: toEstimateView(estimate),
});

export const toDispatchNowView = (dispatch: Dispatch, { counts, deliveries }: RowCounts): z.output<typeof DispatchNowView> => ({
  ...toDispatchView(dispatch),
  counts: { ...counts },
  deliveries: { ...deliveries },
});

/** One try to send a mail. */
const AttemptView = z.object({
  round: Count,
  n: Count,
  startedAt: Iso,
  outcome: z.string().exactOptional(),
  code: z.string().exactOptional(),
  messageId: z.string().exactOptional(),
  ms: z.number().exactOptional(),
});

/** One event of SES about a mail. */
const EventView = z.object({
  kind: z.enum(MAIL_EVENT_KINDS),
  at: Iso,
  messageId: z.string(),
  detail: z.string().exactOptional(),
});

/** An attempt whose mail may have arrived though no answer of SES says so. */
const PossibleCopyView = z.object({
  round: Count,
  n: Count,
  startedAt: Iso,
  reason: z.enum(POSSIBLE_COPY_REASONS),
  code: z.string().exactOptional(),
});

const COPY_WARNINGS = {
  'another-copy-follows': 'These attempts may have sent the email. A retry may send another copy.',
  'another-copy-sent': 'These attempts may have sent another copy of the email.',
  'no-copy-follows': 'These attempts may have sent the email.',
} as const satisfies Readonly<Record<CopyRisk, string>>;

/** A recipient as the API shows it. */
export const RecipientView = z.object({
  applyId: z.string(),
  email: z.string(),
  status: z.enum(RECIPIENT_STATUSES),
  round: Count,
  attemptCount: Count,
  messageId: z.string().exactOptional(),
  sentAt: Iso.exactOptional(),
  failedAt: Iso.exactOptional(),
  cancelledAt: Iso.exactOptional(),
  nextAttemptAt: Iso.exactOptional(),
  lastErrorCode: z.string().exactOptional(),
  /** How far the mail got after SES took it; `none`: nothing is known. */
  delivery: z.enum(DELIVERY_STATES).exactOptional(),
  /** A person's word on what became of the mail, and how that person knows. */
  settled: z.object({ as: z.enum(['sent', 'failed']), who: z.string(), at: Iso, note: z.string() }).exactOptional(),
  possibleCopies: z
    .object({ warning: z.enum(COPY_WARNINGS), attempts: z.array(PossibleCopyView) })
    .describe(
      'The attempts that may have sent the email although SES confirmed nothing, and why. In any state; absent when there are none. An UNKNOWN recipient always has it.',
    )
    .exactOptional(),
  /** The newest ones, oldest first. */
  attempts: z.array(AttemptView),
  /** The newest ones, oldest first. */
  events: z.array(EventView),
});
export type RecipientView = z.output<typeof RecipientView>;

/** A page of recipients. While there is a `next`, there is more to read, even after an empty page. */
export const RecipientsView = z.object({
  recipients: z.array(RecipientView),
  next: z.string().nullable(),
});

/** What is shown of a recipient in its state: what is left over from an earlier one is not. */
const toStateView = (recipient: Recipient): Partial<RecipientView> => {
  switch (recipient.status) {
    case 'PENDING':
      return {
        nextAttemptAt: toIso(recipient.nextAttemptAt),
        ...(recipient.lastErrorCode !== undefined && { lastErrorCode: recipient.lastErrorCode }),
      };
    case 'SENT':
      return {
        ...(recipient.messageId !== undefined && { messageId: recipient.messageId }),
        sentAt: toIso(recipient.sentAt),
      };
    case 'FAILED':
    case 'UNKNOWN':
      return { lastErrorCode: recipient.lastErrorCode, failedAt: toIso(recipient.failedAt) };
    case 'CANCELLED':
      return { cancelledAt: toIso(recipient.cancelledAt) };
    case 'PROCESSING':
      return {};
  }
};

/** The lease token, and whatever else is stored, is not shown. */
const toAttemptView = (attempt: Attempt): z.output<typeof AttemptView> =>
  AttemptView.parse({ ...attempt, startedAt: toIso(attempt.startedAt) });

/** Of an UNKNOWN recipient even without such attempts: the oldest attempts are not kept. */
const toPossibleCopiesView = (recipient: Recipient, all: readonly Attempt[]): Pick<RecipientView, 'possibleCopies'> => {
  const attempts = possibleCopies(recipient, all).map((copy) => ({ ...copy, startedAt: toIso(copy.startedAt) }));
  if (attempts.length === 0 && recipient.status !== 'UNKNOWN') return {};
  return { possibleCopies: { warning: COPY_WARNINGS[copyRisk(recipient)], attempts } };
};

const toEventView = (event: MailEvent): z.output<typeof EventView> => EventView.parse({ ...event, at: toIso(event.at) });

export const toRecipientView = (
  seen: Pick<RecipientInput, 'applyId' | 'email'> & {
    readonly recipient: Recipient;
    readonly attempts: readonly Attempt[];
    readonly delivery: DeliveryState;
    readonly events: readonly MailEvent[];
    readonly settled?: Settlement;
  },
): RecipientView => {
  const { applyId, email, recipient, attempts, delivery, events, settled } = seen;
  const { status, round, attemptCount } = recipient;
  return {
    applyId,
    email,
    status,
    round,
    attemptCount,
    ...toStateView(recipient),
    ...(status === 'SENT' && { delivery }),
    ...toPossibleCopiesView(recipient, attempts),
    ...(settled !== undefined && { settled: { ...settled, at: toIso(settled.at) } }),
    attempts: attempts.map(toAttemptView),
    events: events.map(toEventView),
  };
};
