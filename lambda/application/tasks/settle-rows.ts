import { isSettled } from '../../domain/dispatch/command.ts';
import type { RecipientRepository } from '../ports/recipients.ts';
import type { Clock } from '../ports/system.ts';
import type { OpenTask, TaskRow } from '../ports/tasks.ts';
import { RowsUnfinishedError } from './rows-unfinished.ts';
import { settleRow } from './settle-row.ts';

export interface SettleRowsDeps {
  readonly recipients: Pick<RecipientRepository, 'applyPatch'>;
  readonly clock: Clock;
}

/** Writes down a person's word about those that were UNKNOWN when it was said. @returns how many were settled */
export const settleRows = async (
  { recipients, clock }: SettleRowsDeps,
  { word, requestedAt, requestedBy }: OpenTask,
  rows: readonly TaskRow[],
): Promise<number> => {
  if (word === undefined) return 0;
  const settlement = { ...word, who: requestedBy, at: requestedAt };
  let settled = 0;
  // One after the other: each of these writes is about the dispatch too, so side by side they would only collide.
  for (const { key, recipient } of rows) {
    if (recipient === 'broken') continue;
    const result = await settleRow(recipients, key, settlement, clock(), (unknown) => isSettled(unknown, requestedAt));
    if (result.outcome === 'unavailable') throw new RowsUnfinishedError('a recipient could not be settled');
    if (result.outcome === 'settled' && result.isNew) settled += 1;
  }
  return settled;
};
