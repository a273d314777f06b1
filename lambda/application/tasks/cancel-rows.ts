import type { RecipientRepository } from '../ports/recipients.ts';
import type { Clock, Sleep } from '../ports/system.ts';
import type { TaskRow } from '../ports/tasks.ts';
import { RowsUnfinishedError } from './rows-unfinished.ts';

export interface CancelRowsDeps {
  readonly recipients: RecipientRepository;
  readonly clock: Clock;
  readonly sleep: Sleep;
}

const AT_ONCE = 20;
const TRIES = 3;
const RETRY_MS = 200;

/** Cancels those of the rows that are PENDING; a send that has begun ends as what it is. @returns how many were cancelled */
export const cancelRows = async ({ recipients, clock, sleep }: CancelRowsDeps, rows: readonly TaskRow[]): Promise<number> => {
  const pending = rows.filter(({ recipient }) => recipient !== 'broken' && recipient.status === 'PENDING');
  let cancelled = 0;
  for (let from = 0; from < pending.length; from += AT_ONCE) {
    let open = pending.slice(from, from + AT_ONCE);
    for (let tries = 1; open.length > 0; tries += 1) {
      if (tries > TRIES) throw new RowsUnfinishedError(`${open.length} recipients could not be cancelled`);
      if (tries > 1) await sleep(RETRY_MS * tries);
      const results = await Promise.all(open.map(({ key }) => recipients.cancel(key, clock())));
      cancelled += results.filter((result) => result === 'written').length;
      // `conflict` is one that was claimed meanwhile.
      open = open.filter((_, i) => results[i] === 'unavailable');
    }
  }
  return cancelled;
};
