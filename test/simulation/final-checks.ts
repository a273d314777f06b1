import { type DispatchStatus, needsAttention, outcomeOf } from '../../lambda/domain/dispatch/dispatch.ts';
import { DELIVERY_STATES } from '../../lambda/domain/recipient/delivery.ts';
import { ATTEMPTS_EXHAUSTED, RECIPIENT_STATUSES } from '../../lambda/domain/recipient/recipient.ts';
import type { Ledger } from './ledger.ts';
import type { Plan } from './plan.ts';
import type { Queue } from './queue.ts';
import type { SendBody } from './sender-host.ts';
import { countRowsOf, type DispatchItem, nameOf, type Row, type Table } from './table.ts';

export interface EndDeps {
  readonly ledger: Ledger;
  readonly plan: Plan;
  readonly table: Table;
  readonly sendQueue: Queue<SendBody>;
}

/** Looks at how everything stands once nothing happens any more. */
export const checkEnd = (deps: EndDeps): void => {
  const { ledger, table } = deps;
  for (const row of table.rows.values()) {
    const status = table.dispatches.get(row.key.dispatchId)?.status;
    for (const fault of [faultOfEnd(deps, row, status), faultOfConfirmation(deps, row), faultOfDuplicates(deps, row)]) {
      if (fault !== undefined) ledger.violate(`${nameOf(row.key)} at the end: ${fault}`);
    }
  }
  for (const dispatch of table.dispatches.values()) {
    const fault = faultOfDispatch(table, dispatch);
    if (fault !== undefined) ledger.violate(`${dispatch.dispatchId} at the end: ${fault}`);
  }
  checkRedrives(deps);
};

const isDeadLetter = ({ sendQueue }: EndDeps, id: string | undefined): boolean =>
  sendQueue.deadLetters.some(({ body }) => body.id === id);

/** SQS gave the message to two at once: one let it go while the other used up the last attempt. */
const isLostToTwin = ({ ledger: { twins, letGo } }: EndDeps, id: string | undefined): boolean =>
  id !== undefined && twins.has(id) && letGo.has(id);

/** Nobody is forgotten: every recipient ends as something that it may end as. */
const faultOfEnd = (deps: EndDeps, { recipient }: Row, dispatch: DispatchStatus | undefined): string | undefined => {
  switch (recipient.status) {
    case 'PROCESSING':
      return 'PROCESSING for ever';
    case 'PENDING':
      return dispatch === 'STOPPED' ? undefined : `PENDING for ever in a dispatch that is ${dispatch ?? 'gone'}`;
    case 'CANCELLED':
      return dispatch === 'CANCELLED' ? undefined : 'CANCELLED though its dispatch is not';
    case 'FAILED':
      if (recipient.lastErrorCode !== ATTEMPTS_EXHAUSTED || dispatch === 'CANCELLED') return undefined;
      return isDeadLetter(deps, recipient.deadMessage?.id) || isLostToTwin(deps, recipient.deadMessage?.id)
        ? undefined
        : 'its attempts are used up and its message is no dead letter';
    case 'SENT':
    case 'UNKNOWN':
      return undefined;
  }
};

/** SES's events settle everything they speak of. */
const faultOfConfirmation = ({ ledger, plan }: EndDeps, { key, recipient }: Row): string | undefined => {
  const mails = ledger.mailsOf(key);
  if (recipient.status === 'SENT') return undefined;
  const heard = mails.find(({ isHeard }) => isHeard);
  if (heard !== undefined) return `${recipient.status} though the event of ${heard.messageId} was applied`;
  const isHeardInTheEnd = plan.events.lost === 0 && plan.feedbackReceives > 100;
  if (isHeardInTheEnd && mails.length > 0) return `${recipient.status} though all events came`;
  return undefined;
};

/** Every mail too many that anybody can know of is counted, once. */
const faultOfDuplicates = ({ ledger }: EndDeps, { key, recipient, attempts }: Row): string | undefined => {
  const known = new Set(attempts.flatMap(({ messageId }) => messageId ?? []));
  if (recipient.status === 'SENT' && recipient.messageId !== undefined) known.add(recipient.messageId);
  const counted = ledger.duplicates.get(nameOf(key)) ?? 0;
  const tooMany = Math.max(0, known.size - 1);
  if (counted > tooMany) return `${counted} duplicates counted of ${tooMany}`;
  const isSure = (ledger.unseenChanges.get(nameOf(key)) ?? 0) === 0;
  return isSure && counted < tooMany ? `${counted} duplicates counted of ${tooMany}` : undefined;
};

const KNOWN = DELIVERY_STATES.filter((state) => state !== 'none');

const faultOfDispatch = (table: Table, dispatch: DispatchItem): string | undefined => {
  const { counts, deliveries } = countRowsOf(table.rowsOf(dispatch.dispatchId));
  const { status, isOpen } = dispatch;
  if (status === 'ACCEPTED' || status === 'IN_PROGRESS') return `${status} for ever`;
  if (status === 'STOPPED') return isOpen ? undefined : 'STOPPED and not looked after';
  if (isOpen) return `${status} and never closed`;
  if (RECIPIENT_STATUSES.some((each) => counts[each] !== dispatch.counts?.[each])) return 'its counts are not those of its rows';
  if (KNOWN.some((each) => deliveries[each] !== dispatch.deliveries?.[each])) return 'its deliveries are not those of its rows';
  if (dispatch.needsAttention !== undefined && dispatch.needsAttention !== needsAttention(counts, deliveries))
    return 'it asks wrongly for attention';
  return status === 'COMPLETED' && dispatch.outcome !== outcomeOf(counts)
    ? `its outcome is ${dispatch.outcome ?? 'unknown'}`
    : undefined;
};

/** A redrive does what it is for. */
const checkRedrives = (deps: EndDeps): void => {
  const { ledger, table } = deps;
  for (const { id, key, round } of ledger.redrives) {
    const row = table.row(key);
    if (round === undefined || row === undefined) continue;
    const isDone = row.recipient.round > round || row.recipient.status === 'SENT';
    const isMoot = table.dispatches.get(key.dispatchId)?.status === 'CANCELLED' || isDeadLetter(deps, id);
    if (!isDone && !isMoot) ledger.violate(`${nameOf(key)} was redriven in round ${round} and is still ${row.recipient.status}`);
  }
};
