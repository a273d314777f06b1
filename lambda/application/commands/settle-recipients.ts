import { shardOf } from '../../domain/dispatch/shards.ts';
import type { RecipientStatus } from '../../domain/recipient/recipient.ts';
import type { Settlement } from '../../domain/recipient/settlement.ts';
import { Unavailable } from '../ports/errors.ts';
import type { Reader } from '../queries/read-dispatch.ts';
import { type SettledRow, settleRow } from '../tasks/settle-row.ts';
import type { SettleRecipientDeps } from './settle-recipient.ts';

/** What happened to one of several recipients. `left-alone`: its outcome is known. */
export interface SettledOne {
  readonly applyId: string;
  readonly result: 'settled' | 'left-alone' | 'no-such-recipient' | 'unavailable';
  readonly status?: RecipientStatus;
  /** False when the same was said before. */
  readonly isNew: boolean;
}

export type SettleRecipients = (
  person: Reader,
  dispatchId: string,
  applyIds: readonly string[],
  word: Pick<Settlement, 'as' | 'note'>,
) => Promise<readonly SettledOne[] | 'not-found'>;

const RETRY_AFTER_SECONDS = 1;

/** Writes down the same about several recipients at once. Throws {@link Unavailable} when none could be written. */
export const createSettleRecipients =
  ({ dispatches, recipients, clock }: SettleRecipientDeps): SettleRecipients =>
  async (person, dispatchId, applyIds, word) => {
    const from = await dispatches.find(dispatchId);
    if (from === undefined || !(person.isOperator || from.dispatch.adminId === person.adminId)) return 'not-found';
    const results: SettledOne[] = [];
    // One after the other: each of these writes is about the dispatch too, so side by side they would only collide.
    for (const applyId of new Set(applyIds)) {
      const key = { dispatchId, shard: shardOf(applyId, from.dispatch.shards), applyId };
      const now = clock();
      results.push(toResult(applyId, await settleRow(recipients, key, { ...word, who: person.adminId, at: now }, now)));
    }
    if (results.every(({ result }) => result === 'unavailable')) throw new Unavailable('the table', RETRY_AFTER_SECONDS);
    return results;
  };

const toResult = (applyId: string, settled: SettledRow): SettledOne => {
  switch (settled.outcome) {
    case 'settled':
      return { applyId, result: 'settled', status: settled.row.recipient.status, isNew: settled.isNew };
    case 'left-alone':
      return { applyId, result: 'left-alone', status: settled.row.recipient.status, isNew: false };
    case 'gone':
      return { applyId, result: 'no-such-recipient', isNew: false };
    case 'unavailable':
      return { applyId, result: 'unavailable', isNew: false };
  }
};
