import { advance, type RecipientIn, type RecipientKey } from '../../domain/recipient/recipient.ts';
import type { Settlement } from '../../domain/recipient/settlement.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { RecipientRepository, StoredRecipient } from '../ports/recipients.ts';

/** What a person's word did to a recipient. */
export type SettledRow =
  /** `isNew` is false when the same was said before. */
  | { readonly outcome: 'settled'; readonly row: StoredRecipient; readonly isNew: boolean }
  /** Its outcome is known. */
  | { readonly outcome: 'left-alone'; readonly row: StoredRecipient }
  | { readonly outcome: 'gone' | 'unavailable' };

/**
 * Writes down what a person found out about a recipient that is UNKNOWN. Said again, it changes nothing.
 * @param isMeant whether it is the UNKNOWN that the person spoke of
 */
export const settleRow = async (
  recipients: Pick<RecipientRepository, 'applyPatch'>,
  key: RecipientKey,
  settlement: Settlement,
  now: Instant,
  isMeant: (unknown: RecipientIn<'UNKNOWN'>) => boolean = () => true,
): Promise<SettledRow> => {
  let seen: StoredRecipient | undefined;
  const written = await recipients.applyPatch(key, (row) => {
    seen = row;
    const { recipient } = row;
    if (recipient.status !== 'UNKNOWN' || !isMeant(recipient)) return undefined;
    const transition = advance(recipient, { type: 'settled-by-hand', as: settlement.as }, now);
    if (!transition.ok) return undefined;
    seen = { ...row, recipient: transition.next, settled: settlement };
    return seen;
  });
  if (written === 'unavailable' || written === 'unreadable') return { outcome: 'unavailable' };
  if (written === 'gone' || seen === undefined) return { outcome: 'gone' };
  if (written === 'written') return { outcome: 'settled', row: seen, isNew: true };
  return isSaidAlready(seen, settlement) ? { outcome: 'settled', row: seen, isNew: false } : { outcome: 'left-alone', row: seen };
};

const isSaidAlready = ({ recipient, settled }: StoredRecipient, { as }: Settlement): boolean =>
  settled?.as === as && recipient.status === (as === 'sent' ? 'SENT' : 'FAILED');
