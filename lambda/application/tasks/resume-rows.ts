import { failedBy } from '../../domain/dispatch/command.ts';
import { type Dispatch, isActive } from '../../domain/dispatch/dispatch.ts';
import type { SendQueue } from '../ports/queues.ts';
import type { OpenTask, TaskRow } from '../ports/tasks.ts';
import { reopenRow, type ReopenRowDeps } from './reopen-row.ts';
import { RowsUnfinishedError } from './rows-unfinished.ts';

export interface ResumeRowsDeps extends ReopenRowDeps {
  readonly sendQueue: SendQueue;
}

/** Puts rows of a resumed dispatch on their way again: those that failed by its fault, and those whose message is gone. */
export const resumeRows = async (
  deps: ResumeRowsDeps,
  { faultCode: code, faultSince: since, requestedAt: until }: OpenTask,
  dispatch: Dispatch,
  rows: readonly TaskRow[],
): Promise<{ readonly reopened: number; readonly enqueued: number }> => {
  let reopened = 0;
  // One after the other: each of these writes is about the dispatch too, so side by side they would only collide.
  for (const { key, recipient } of rows) {
    if (recipient === 'broken' || recipient.status !== 'FAILED' || code === undefined || since === undefined) continue;
    if (failedBy(recipient, { code, since, until }) && (await reopenRow(deps, key, recipient)) === 'reopened') reopened += 1;
  }
  return { reopened, enqueued: isActive(dispatch.status) ? await enqueue(deps, rows) : 0 };
};

/** While a dispatch was stopped, the messages of its waiting rows were deleted. One message too many does no harm. */
const enqueue = async ({ sendQueue, clock }: ResumeRowsDeps, rows: readonly TaskRow[]): Promise<number> => {
  const now = clock();
  const messages = rows.flatMap(({ key, recipient }) =>
    recipient !== 'broken' && recipient.status === 'PENDING'
      ? [{ key, delaySeconds: Math.max(0, Math.ceil((recipient.nextAttemptAt - now) / 1000)) }]
      : [],
  );
  const sent = await sendQueue.send(messages);
  if (sent.includes(false)) throw new RowsUnfinishedError('messages could not be sent');
  return messages.length;
};
