import type { Recipient, RecipientIn } from '../recipient/recipient.ts';
import type { Instant } from '../shared/instant.ts';
import type { Dispatch, DispatchStatus } from './dispatch.ts';

/** What a person can ask for a whole dispatch. */
export type Command = 'cancel' | 'resume' | 'retry' | 'settle' | 'export';

/** Whether that can be done in a state, or why not. */
export type CommandCheck = 'go-ahead' | 'done-already' | 'already-completed' | 'already-cancelled' | 'not-stopped';

/** Cancelling always works until all is over; resuming is for what was stopped; nothing of a cancelled one is sent again. */
export const checkCommand = (command: Command, status: DispatchStatus): CommandCheck => {
  switch (command) {
    case 'cancel':
      if (status === 'COMPLETED') return 'already-completed';
      return status === 'CANCELLED' ? 'done-already' : 'go-ahead';
    case 'resume':
      return status === 'STOPPED' ? 'go-ahead' : 'not-stopped';
    case 'retry':
      return status === 'CANCELLED' ? 'already-cancelled' : 'go-ahead';
    case 'settle':
    case 'export':
      return 'go-ahead';
  }
};

/** The dispatch afterwards. Its generation grows, so that a check made before cannot complete it. */
export const applyCommand = (command: Command, dispatch: Dispatch, now: Instant): Dispatch => {
  const generation = dispatch.generation + 1;
  switch (command) {
    case 'cancel':
      return { ...dispatch, status: 'CANCELLED', generation, cancelledAt: now };
    case 'resume': {
      // Why it was stopped is the task's matter from now on.
      const { dispatchId, adminId, scenarioId, recruitId, total, shards, isTest, createdAt, counts, deliveries } = dispatch;
      const request = { dispatchId, adminId, scenarioId, recruitId, total, shards, isTest, createdAt };
      const { templateVersion } = dispatch;
      const known = {
        ...(templateVersion !== undefined && { templateVersion }),
        ...(counts && { counts }),
        ...(deliveries && { deliveries }),
      };
      return { ...request, ...known, status: 'IN_PROGRESS', generation, resumedAt: now, lastProgressAt: now };
    }
    case 'retry':
      // Each recipient that is reopened opens its dispatch again.
      return { ...dispatch, generation };
    // Each recipient that is settled has its dispatch counted anew.
    case 'settle':
    case 'export':
      return dispatch;
  }
};

/** What a resume has to put right: mails that were refused with that code, from the one instant to the other. */
export interface Fault {
  readonly code: string;
  readonly since: Instant;
  /** When the resume was asked for: what fails after it has failed anew. */
  readonly until: Instant;
}

/** Whether a recipient failed by it. */
export const failedBy = (recipient: Recipient, { code, since, until }: Fault): boolean =>
  recipient.status === 'FAILED' && recipient.lastErrorCode === code && recipient.failedAt >= since && recipient.failedAt <= until;

/** What a retry sends again: nothing that SES took, and nothing that is still under way. */
export type Retryable = 'FAILED' | 'UNKNOWN';

/** What may be asked for, in the order a reader expects. */
export const RETRYABLE = ['FAILED', 'UNKNOWN'] as const satisfies readonly Retryable[];

/** Whether a retry that was asked for then is about that recipient: what failed after it has failed anew. */
export const isRetried = (
  recipient: Recipient,
  statuses: readonly Retryable[],
  requestedAt: Instant,
): recipient is RecipientIn<Retryable> =>
  (recipient.status === 'FAILED' || recipient.status === 'UNKNOWN') &&
  statuses.includes(recipient.status) &&
  recipient.failedAt <= requestedAt;

/** Whether a person's word about all UNKNOWN is about that one: what became UNKNOWN after it was said is another matter. */
export const isSettled = ({ failedAt }: RecipientIn<'UNKNOWN'>, requestedAt: Instant): boolean => failedAt <= requestedAt;
