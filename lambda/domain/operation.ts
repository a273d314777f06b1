import type { Dispatch, DispatchStatus } from './dispatch.ts';
import type { Instant } from './instant.ts';
import type { Recipient } from './recipient.ts';

/** What a person can ask for a whole dispatch. */
export type Operation = 'cancel' | 'resume';

/** Whether that can be done in a state, or why not. */
export type Permit = 'go-ahead' | 'done-already' | 'already-completed' | 'not-stopped';

/** Cancelling always works until all is over; resuming is for what was stopped. */
export const permit = (operation: Operation, status: DispatchStatus): Permit => {
  switch (operation) {
    case 'cancel':
      if (status === 'COMPLETED') return 'already-completed';
      return status === 'CANCELLED' ? 'done-already' : 'go-ahead';
    case 'resume':
      return status === 'STOPPED' ? 'go-ahead' : 'not-stopped';
  }
};

/** The dispatch afterwards. Its generation grows, so that a check made before cannot complete it. */
export const operated = (operation: Operation, dispatch: Dispatch, now: Instant): Dispatch => {
  const generation = dispatch.generation + 1;
  switch (operation) {
    case 'cancel':
      return { ...dispatch, status: 'CANCELLED', generation, cancelledAt: now };
    case 'resume': {
      // Why it was stopped is the task's matter from now on.
      const { dispatchId, adminId, scenarioId, recruitId, total, shards, isTest, createdAt } = dispatch;
      const request = { dispatchId, adminId, scenarioId, recruitId, total, shards, isTest, createdAt };
      return { ...request, status: 'IN_PROGRESS', generation, resumedAt: now, lastProgressAt: now };
    }
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
