import * as z from 'zod';

import type { Attempt } from '../domain/attempt.ts';
import type { Addressee } from '../domain/content.ts';
import type { Counts, Dispatch } from '../domain/dispatch.ts';
import { toIso } from '../domain/instant.ts';
import { type Recipient, RECIPIENT_STATUSES } from '../domain/recipient.ts';

const Iso = z.iso.datetime({ precision: 3 });
const Count = z.int().nonnegative();

/** A dispatch as the API shows it. */
export const DispatchView = z.object({
  id: z.string(),
  status: z.enum(['ACCEPTED', 'IN_PROGRESS', 'COMPLETED', 'STOPPED', 'CANCELLED']),
  total: Count,
  scenarioId: z.string(),
  recruitId: z.string(),
  adminId: z.string(),
  isTest: z.boolean(),
  createdAt: Iso,
  completedAt: Iso.exactOptional(),
  outcome: z.enum(['all-sent', 'partly-sent', 'none-sent']).exactOptional(),
  links: z.object({ self: z.string(), recipients: z.string() }),
});
export type DispatchView = z.output<typeof DispatchView>;

/** What an accepted request is answered with. */
export const AcceptedView = DispatchView.extend({
  /** When all will be sent, if that can be told. */
  estimate: z.null(),
});

/** A dispatch with its recipients counted by state. */
export const DispatchNowView = DispatchView.extend({
  counts: z.object({ PENDING: Count, PROCESSING: Count, SENT: Count, FAILED: Count, UNKNOWN: Count, CANCELLED: Count }),
});

/** Where a dispatch is found. */
export const dispatchPath = (dispatchId: string): string => `/dispatches/${dispatchId}`;

export const toDispatchView = (dispatch: Dispatch): DispatchView => ({
  id: dispatch.dispatchId,
  status: dispatch.status,
  total: dispatch.total,
  scenarioId: dispatch.scenarioId,
  recruitId: dispatch.recruitId,
  adminId: dispatch.adminId,
  isTest: dispatch.isTest,
  createdAt: toIso(dispatch.createdAt),
  ...(dispatch.completedAt !== undefined && { completedAt: toIso(dispatch.completedAt) }),
  ...(dispatch.outcome !== undefined && { outcome: dispatch.outcome }),
  links: { self: dispatchPath(dispatch.dispatchId), recipients: `${dispatchPath(dispatch.dispatchId)}/recipients` },
});

export const toAcceptedView = (dispatch: Dispatch): z.output<typeof AcceptedView> => ({
  ...toDispatchView(dispatch),
  estimate: null,
});

export const toDispatchNowView = (dispatch: Dispatch, counts: Counts): z.output<typeof DispatchNowView> => ({
  ...toDispatchView(dispatch),
  counts: { ...counts },
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
  nextAttemptAt: Iso.exactOptional(),
  lastErrorCode: z.string().exactOptional(),
  /** How far the mail got after SES took it; `none`: nothing is known. */
  delivery: z.string().exactOptional(),
  /** The newest ones, oldest first. */
  attempts: z.array(AttemptView),
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
      return { messageId: recipient.messageId, sentAt: toIso(recipient.sentAt) };
    case 'FAILED':
    case 'UNKNOWN':
      return { lastErrorCode: recipient.lastErrorCode, failedAt: toIso(recipient.failedAt) };
    case 'PROCESSING':
    case 'CANCELLED':
      return {};
  }
};

/** The lease token, and whatever else is stored, is not shown. */
const toAttemptView = (attempt: Attempt): z.output<typeof AttemptView> =>
  AttemptView.parse({ ...attempt, startedAt: toIso(attempt.startedAt) });

export const toRecipientView = (
  seen: Pick<Addressee, 'applyId' | 'email'> & {
    readonly recipient: Recipient;
    readonly attempts: readonly Attempt[];
    readonly delivery?: string;
  },
): RecipientView => {
  const { applyId, email, recipient, attempts, delivery } = seen;
  const { status, round, attemptCount } = recipient;
  return {
    applyId,
    email,
    status,
    round,
    attemptCount,
    ...toStateView(recipient),
    ...(status === 'SENT' && { delivery: delivery ?? 'none' }),
    attempts: attempts.map(toAttemptView),
  };
};
