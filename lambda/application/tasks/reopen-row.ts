import { advance, type RecipientIn, type RecipientKey } from '../../domain/recipient/recipient.ts';
import type { RecipientRepository } from '../ports/recipients.ts';
import type { Clock, Sleep } from '../ports/system.ts';
import type { TaskRepository } from '../ports/tasks.ts';
import { RowsUnfinishedError } from './rows-unfinished.ts';

export interface ReopenRowDeps {
  readonly tasks: Pick<TaskRepository, 'dispatch'>;
  readonly recipients: RecipientRepository;
  readonly clock: Clock;
  readonly sleep: Sleep;
}

const TRIES = 5;
const RETRY_MS = 100;

/**
 * Begins another round of a recipient; the relay sends its message. In a STOPPED dispatch too: the next resume is about
 * the next fault, and would leave it behind.
 * @returns `left-alone`: the recipient or its dispatch is no longer what it was
 */
export const reopenRow = async (
  { tasks, recipients, clock, sleep }: ReopenRowDeps,
  key: RecipientKey,
  from: RecipientIn<'FAILED' | 'UNKNOWN'>,
): Promise<'reopened' | 'left-alone'> => {
  const transition = advance(from, { type: 'reopened' }, clock());
  if (!transition.ok) return 'left-alone';
  for (let tries = 1; tries <= TRIES; tries += 1) {
    if (tries > 1) await sleep(RETRY_MS * tries);
    const dispatch = await tasks.dispatch(key.dispatchId);
    if (dispatch === undefined || dispatch.status === 'CANCELLED') return 'left-alone';
    if ((await recipients.reopen(key, from, transition.next, dispatch.status)) === 'written') return 'reopened';
    // Refused for the row's sake or for the dispatch's; if the row failed as before, it was the dispatch that changed.
    const row = await recipients.find(key);
    if (row === undefined) return 'left-alone';
    if (row !== 'unavailable' && !isSameFailure(row.recipient, from)) return 'left-alone';
  }
  throw new RowsUnfinishedError('a recipient could not be reopened');
};

const isSameFailure = (
  recipient: { readonly status: string; readonly round: number },
  from: RecipientIn<'FAILED' | 'UNKNOWN'>,
): boolean => recipient.status === from.status && recipient.round === from.round;
