import { isRetried, type Retryable } from '../../domain/dispatch/command.ts';
import { shardOf } from '../../domain/dispatch/shards.ts';
import type { RecipientStatus } from '../../domain/recipient/recipient.ts';
import { Unavailable } from '../ports/errors.ts';
import type { OperateRepository } from '../ports/tasks.ts';
import type { Reader } from '../queries/read-dispatch.ts';
import { reopenRow, type ReopenRowDeps } from '../tasks/reopen-row.ts';
import { RowsUnfinishedError } from '../tasks/rows-unfinished.ts';

export interface RetryRecipientsDeps extends ReopenRowDeps {
  readonly dispatches: Pick<OperateRepository, 'find' | 'hasContent'>;
}

/** What happened to one of them. `left-alone`: it is in another state, which is told. */
export interface Retried {
  readonly applyId: string;
  readonly result: 'reopened' | 'left-alone' | 'no-such-recipient' | 'unavailable';
  readonly status?: RecipientStatus;
}

export type RetryRecipients = (
  person: Reader,
  dispatchId: string,
  query: { readonly statuses: readonly Retryable[]; readonly applyIds: readonly string[] },
) => Promise<readonly Retried[] | 'not-found' | 'already-cancelled' | 'expired'>;

const RETRY_AFTER_SECONDS = 1;

/** Begins another round of some recipients at once. A repetition finds them PENDING, or on their way, and leaves them alone. */
export const createRetryRecipients =
  (deps: RetryRecipientsDeps): RetryRecipients =>
  async (person, dispatchId, { statuses, applyIds }) => {
    const from = await deps.dispatches.find(dispatchId);
    if (from === undefined || !(person.isOperator || from.dispatch.adminId === person.adminId)) return 'not-found';
    if (from.dispatch.status === 'CANCELLED') return 'already-cancelled';
    if (!(await deps.dispatches.hasContent(dispatchId, deps.clock()))) return 'expired';
    const results: Retried[] = [];
    for (const applyId of new Set(applyIds)) {
      results.push(await retry(deps, { dispatchId, shard: shardOf(applyId, from.dispatch.shards), applyId }, statuses));
    }
    if (results.every(({ result }) => result === 'unavailable')) throw new Unavailable('the table', RETRY_AFTER_SECONDS);
    return results;
  };

const retry = async (
  deps: RetryRecipientsDeps,
  key: Parameters<typeof reopenRow>[1],
  statuses: readonly Retryable[],
): Promise<Retried> => {
  const { applyId } = key;
  const row = await deps.recipients.find(key);
  if (row === 'unavailable') return { applyId, result: 'unavailable' };
  if (row === undefined) return { applyId, result: 'no-such-recipient' };
  const { recipient } = row;
  if (!isRetried(recipient, statuses, deps.clock())) return { applyId, result: 'left-alone', status: recipient.status };
  try {
    if ((await reopenRow(deps, key, recipient)) === 'reopened') return { applyId, result: 'reopened', status: 'PENDING' };
    return { applyId, result: 'left-alone' };
  } catch (error) {
    if (error instanceof RowsUnfinishedError) return { applyId, result: 'unavailable' };
    throw error;
  }
};
