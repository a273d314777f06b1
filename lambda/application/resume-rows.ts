import { type Dispatch, isActive } from '../domain/dispatch.ts';
import { failedBy } from '../domain/operation.ts';
import { advance, type In, type RecipientKey } from '../domain/recipient.ts';
import { RowsUnfinishedError } from './cancel-rows.ts';
import type { OpenTask, TaskRepository, TaskRow } from './operate-ports.ts';
import type { Clock, RecipientRepository, SendQueue, Sleep } from './ports.ts';

export interface ResumeRowsDeps {
  readonly tasks: Pick<TaskRepository, 'dispatch'>;
  readonly recipients: RecipientRepository;
  readonly sendQueue: SendQueue;
  readonly clock: Clock;
  readonly sleep: Sleep;
}

const TRIES = 5;
const RETRY_MS = 100;

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
    if (failedBy(recipient, { code, since, until }) && (await reopen(deps, key, recipient))) reopened += 1;
  }
  return { reopened, enqueued: isActive(dispatch.status) ? await enqueue(deps, rows) : 0 };
};

/** In a STOPPED dispatch too: the next resume is about the next fault, and would leave these behind. The relay sends their message. */
const reopen = async (
  { tasks, recipients, clock, sleep }: ResumeRowsDeps,
  key: RecipientKey,
  from: In<'FAILED'>,
): Promise<boolean> => {
  const transition = advance(from, { type: 'reopened' }, clock());
  if (!transition.ok) return false;
  for (let tries = 1; tries <= TRIES; tries += 1) {
    if (tries > 1) await sleep(RETRY_MS * tries);
    const dispatch = await tasks.dispatch(key.dispatchId);
    if (dispatch === undefined || dispatch.status === 'CANCELLED') return false;
    if ((await recipients.reopen(key, from, transition.next, dispatch.status)) === 'written') return true;
    // Refused for the row's sake or for the dispatch's; if the row failed as before, it was the dispatch that changed.
    const row = await recipients.find(key);
    if (row === undefined) return false;
    if (row !== 'unavailable' && !isSameFailure(row.recipient, from)) return false;
  }
  throw new RowsUnfinishedError('a recipient could not be reopened');
};

const isSameFailure = (recipient: { readonly status: string; readonly round: number }, from: In<'FAILED'>): boolean =>
  recipient.status === 'FAILED' && recipient.round === from.round;

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
