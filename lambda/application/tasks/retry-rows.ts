import { isRetried, RETRYABLE } from '../../domain/dispatch/command.ts';
import type { OpenTask, TaskRow } from '../ports/tasks.ts';
import { reopenRow, type ReopenRowDeps } from './reopen-row.ts';

/** Begins another round of those that had failed when the retry was asked for. @returns how many were reopened */
export const retryRows = async (
  deps: ReopenRowDeps,
  { statuses = [], requestedAt }: OpenTask,
  rows: readonly TaskRow[],
): Promise<number> => {
  const wanted = RETRYABLE.filter((status) => statuses.includes(status));
  let reopened = 0;
  // One after the other: each of these writes is about the dispatch too, so side by side they would only collide.
  for (const { key, recipient } of rows) {
    if (recipient === 'broken' || !isRetried(recipient, wanted, requestedAt)) continue;
    if ((await reopenRow(deps, key, recipient)) === 'reopened') reopened += 1;
  }
  return reopened;
};
