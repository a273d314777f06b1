import type { Patch, RecipientRepository, StoredRecipient, WriteResult } from '../../lambda/application/ports/recipients.ts';
import type { DispatchStatus } from '../../lambda/domain/dispatch/dispatch.ts';
import { isFinal, type Recipient, type RecipientIn, type RecipientKey } from '../../lambda/domain/recipient/recipient.ts';
import { isWithin } from './plan.ts';
import type { PortDeps } from './ports.ts';
import type { Process } from './scheduler.ts';
import { type DispatchItem, nameOf, type Row } from './table.ts';
import { valueOr } from './table-access.ts';

const TRIES = 5;
const RETRY_MS = 20;

type PatchResult = Awaited<ReturnType<RecipientRepository['applyPatch']>>;

/** Reads a row, asks what it should be and writes that, again if somebody was faster. */
export const patchRow = async (
  deps: PortDeps,
  process: Process,
  key: RecipientKey,
  change: (row: StoredRecipient) => Patch | undefined,
): Promise<PatchResult> => {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    if (tries > 1) await deps.scheduler.sleep(process, RETRY_MS * 2 ** tries);
    const result = await applyPatchOnce(deps, process, key, change);
    if (result !== 'lost-race') return result;
  }
  return 'unavailable';
};

const applyPatchOnce = async (
  deps: PortDeps,
  process: Process,
  key: RecipientKey,
  change: (row: StoredRecipient) => Patch | undefined,
): Promise<PatchResult | 'lost-race'> => {
  const { table, access, sabotage } = deps;
  const isOfFeedback = process.host.role === 'feedback';
  if (isOfFeedback && isStuck(deps, key)) return 'unavailable';
  const read = await access.ask(process, `read ${key.applyId}`, () => table.row(key));
  if (!read.answered) return 'unavailable';
  const row = read.value;
  if (row === undefined) return 'gone';
  const isSkipped =
    isOfFeedback && sabotage === 'events-for-open-rows-alone' && isFinal(row.recipient.status) && row.recipient.status !== 'SENT';
  const isForgetful = sabotage === 'lost-attempts-forgotten' && process.host.role === 'walk';
  const next = isSkipped ? undefined : change(isForgetful ? { ...row, attempts: row.attempts.slice(-1) } : row);
  if (next === undefined) {
    if (!isSkipped) hear(deps, process, key);
    return 'unchanged';
  }
  const effect = (): PatchResult | 'lost-race' => {
    if (table.row(key) !== row) return 'lost-race';
    applyPatch(deps, process, row, next);
    hear(deps, process, key);
    countUnseen(deps, key, 1);
    return 'written';
  };
  // A transaction carries a token, so its repeat is known; a plain update's repeat meets its own write.
  const isTransaction = leavesFinal(row, next);
  const written = await access.ask(process, `amend ${key.applyId} ${next.recipient.status}`, effect, (first) =>
    isTransaction ? first : effect(),
  );
  const result = valueOr(written, 'unavailable');
  if (result === 'written') countUnseen(deps, key, -1);
  return result;
};

const countUnseen = ({ ledger: { unseenChanges } }: PortDeps, key: RecipientKey, by: number): void => {
  unseenChanges.set(nameOf(key), (unseenChanges.get(nameOf(key)) ?? 0) + by);
};

const isStuck = ({ plan, scheduler }: PortDeps, { applyId }: RecipientKey): boolean =>
  isWithin(plan.stuckRows, scheduler.now()) && (Number(applyId.slice(2)) * 0.37) % 1 < plan.stuck;

const leavesFinal = ({ recipient }: Row, next: Patch): boolean =>
  isFinal(recipient.status) && recipient.status !== next.recipient.status;

const applyPatch = ({ table }: PortDeps, process: Process, row: Row, next: Patch): void => {
  table.change(row, next, process.host.role === 'walk' ? 'resolve' : 'amend', process);
  const dispatch = table.dispatches.get(row.key.dispatchId);
  if (dispatch === undefined || !leavesFinal(row, next)) return;
  table.putDispatch({ ...dispatch, isOpen: true, generation: dispatch.generation + 1 }, process);
};

/** The events in hand about this row whose mails the row knows by now have been applied. */
const hear = ({ table, ledger }: PortDeps, process: Process, key: RecipientKey): void => {
  const row = table.row(key);
  for (const feedback of ledger.inHand.get(process) ?? []) {
    if (feedback.kind !== 'event' || nameOf(feedback.origin.key) !== nameOf(key)) continue;
    const { messageId } = feedback.event;
    const mail = ledger.mailsOf(key).find((each) => each.messageId === messageId);
    const isKnown =
      (row?.recipient.status === 'SENT' && row.recipient.messageId === messageId) ||
      row?.attempts.some((attempt) => attempt.messageId === messageId) === true;
    if (mail === undefined || mail.isHeard || !isKnown) continue;
    mail.isHeard = true;
    ledger.heardOf.push(mail.takenAt);
  }
};

/** FAILED or UNKNOWN to PENDING together with the dispatch. */
export const reopenRow = async (
  { table, access }: PortDeps,
  process: Process,
  key: RecipientKey,
  from: RecipientIn<'FAILED' | 'UNKNOWN'>,
  next: Recipient,
  seen: DispatchStatus,
): Promise<WriteResult> => {
  if (seen === 'CANCELLED') return 'conflict';
  const effect = (): WriteResult => {
    const row = table.row(key);
    const dispatch = table.dispatches.get(key.dispatchId);
    if (row === undefined || dispatch === undefined || !isSame(row.recipient, from)) return 'conflict';
    const isAsSeen = seen === 'STOPPED' ? dispatch.status === 'STOPPED' : isSending(dispatch.status);
    if (!isAsSeen) return 'conflict';
    table.change(row, { recipient: next }, 'reopen', process);
    const status = seen === 'STOPPED' ? 'STOPPED' : 'IN_PROGRESS';
    const since = seen === 'COMPLETED' && next.status === 'PENDING' && { statisticsSince: next.nextAttemptAt };
    const opened = { ...withoutResult(dispatch), status, isOpen: true, generation: dispatch.generation + 1, ...since } as const;
    table.putDispatch(opened, process);
    return 'written';
  };
  // A transaction carries a token, so the SDK's repeat gets the first one's answer.
  return valueOr(await access.ask(process, `reopen ${key.applyId}`, effect, (first) => first), 'unavailable');
};

/** It is not known any more what it comes to. */
const withoutResult = (dispatch: DispatchItem): DispatchItem => {
  const open: { -readonly [K in keyof DispatchItem]: DispatchItem[K] } = { ...dispatch };
  delete open.needsAttention;
  delete open.outcome;
  delete open.completedAt;
  return open;
};

const isSending = (status: DispatchStatus): boolean => status !== 'STOPPED' && status !== 'CANCELLED';

const isSame = (recipient: Recipient, from: RecipientIn<'FAILED' | 'UNKNOWN'>): boolean =>
  recipient.status === from.status &&
  recipient.round === from.round &&
  recipient.failedAt === from.failedAt &&
  recipient.lastErrorCode === from.lastErrorCode;
