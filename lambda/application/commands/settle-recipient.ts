import { shardOf } from '../../domain/dispatch/shards.ts';
import type { RecipientStatus } from '../../domain/recipient/recipient.ts';
import type { Settlement } from '../../domain/recipient/settlement.ts';
import { Unavailable } from '../ports/errors.ts';
import type { RecipientRepository, StoredRecipient } from '../ports/recipients.ts';
import type { Clock } from '../ports/system.ts';
import type { OperateRepository } from '../ports/tasks.ts';
import type { Reader } from '../queries/read-dispatch.ts';
import { settleRow } from '../tasks/settle-row.ts';

export interface SettleRecipientDeps {
  readonly dispatches: Pick<OperateRepository, 'find'>;
  readonly recipients: Pick<RecipientRepository, 'applyPatch'>;
  readonly clock: Clock;
}

export type Settled =
  | { readonly outcome: 'settled'; readonly row: StoredRecipient; readonly isNew: boolean }
  /** Its outcome is known. */
  | { readonly outcome: 'not-unknown'; readonly status: RecipientStatus }
  | { readonly outcome: 'no-recipient' | 'not-found' };

export type SettleRecipient = (
  person: Reader,
  dispatchId: string,
  applyIds: readonly string[],
  word: Pick<Settlement, 'as' | 'note'>,
) => Promise<Settled>;

const RETRY_AFTER_SECONDS = 1;

/** Writes down what a person found out about a mail whose outcome nobody could tell. Said again, it changes nothing. */
export const createSettleRecipient =
  (deps: SettleRecipientDeps): SettleRecipient =>
  async (person, dispatchId, applyIds, word) => {
    const from = await deps.dispatches.find(dispatchId);
    if (from === undefined || !(person.isOperator || from.dispatch.adminId === person.adminId)) return { outcome: 'not-found' };
    for (const applyId of applyIds) {
      const key = { dispatchId, shard: shardOf(applyId, from.dispatch.shards), applyId };
      const now = deps.clock();
      const settled = await settleRow(deps.recipients, key, { ...word, who: person.adminId, at: now }, now);
      if (settled.outcome === 'unavailable') throw new Unavailable('the table', RETRY_AFTER_SECONDS);
      if (settled.outcome === 'left-alone') return { outcome: 'not-unknown', status: settled.row.recipient.status };
      if (settled.outcome === 'settled') return settled;
    }
    return { outcome: 'no-recipient' };
  };
