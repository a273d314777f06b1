import { isActive } from '../../domain/dispatch/dispatch.ts';
import {
  decideMessage,
  type MessageAction,
  type MessageDecision,
  waitOrRequeue,
  waitUntil,
} from '../../domain/recipient/decide-message.ts';
import { advance, isFinal } from '../../domain/recipient/recipient.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { StoredRecipient } from '../ports/recipients.ts';
import { noteExpiredLease } from '../unclear/note-unclear.ts';
import { type Group, LOOK_AGAIN_MS, type RecipientMessage } from './finished-attempt.ts';
import type { Actions } from './group-messages.ts';
import type { SendDeps } from './send-deps.ts';

const TROUBLE_BASE_MS = 5_000;
const TROUBLE_CAP_MS = 300_000;
const LAST_RECEIVES_WAIT_MS = 3 * 3_600_000;

/** How long to leave a message alone after the table gave no answer: longer each time, and not all at once. */
export const troubleMs = ({ receiveCount }: RecipientMessage, random: number): number =>
  Math.min(TROUBLE_CAP_MS, TROUBLE_BASE_MS * 2 ** (receiveCount - 1)) * (0.5 + random / 2);

/**
 * Keeps a message waiting whose row was not looked at. A redrive is told by the message's own id, so one is replaced
 * by a fresh message only when its recipient is known to be open.
 */
export const postpone = async (
  { recipients, policy, clock }: SendDeps,
  message: RecipientMessage,
  until: Instant,
): Promise<MessageAction> => {
  const action = waitOrRequeue(message, until, policy.maxReceiveCount);
  if (action.do !== 'requeue') return action;
  const found = await recipients.find(message.key);
  // The last receives must outlast the table's trouble; when it is over, the sweeper sends a fresh message sooner.
  if (found === 'unavailable') return waitUntil(message, Math.max(until, clock() + LAST_RECEIVES_WAIT_MS));
  return found !== undefined && !isFinal(found.recipient.status) ? action : waitUntil(message, until);
};

/** Decides the messages of a group whose claim was not granted. */
export const handleRefused = async (
  deps: SendDeps,
  group: Group,
  found: StoredRecipient | undefined,
  actions: Actions,
): Promise<void> => {
  if (await handleExpiredLease(deps, group, found, actions)) return;
  // Each message for itself: of two for one failed recipient, one may be the dead letter and the other a stray.
  for (const message of group.messages) actions.set(message, await handleOne(deps, group, message, found));
};

/** @returns false: there is none */
const handleExpiredLease = async (
  deps: SendDeps,
  group: Group,
  found: StoredRecipient | undefined,
  actions: Actions,
): Promise<boolean> => {
  const recipient = found?.recipient;
  if (recipient?.status !== 'PROCESSING' || recipient.lease.until > deps.clock()) return false;
  const decide = await noteExpiredLease(deps, group, recipient);
  for (const message of group.messages) actions.set(message, decide(message));
  return true;
};

/** While nothing may be sent, messages of open rows are replaced by fresh ones: they neither wait in hand nor use up receives. */
export const handlePaused = async (deps: SendDeps, group: Group, until: Instant, actions: Actions): Promise<void> => {
  const found = await deps.recipients.find(group.key);
  if (found === 'unavailable' || (await handleExpiredLease(deps, group, found, actions))) return;
  for (const message of group.messages) {
    const decision = decideMessage(found?.recipient, message, deps.clock(), deps.policy.maxReceiveCount);
    const action =
      found === undefined || isFinal(found.recipient.status)
        ? await applyDecision(deps, group, message, found, decision)
        : ({ do: 'requeue', until: Math.max(until, 'until' in decision ? decision.until : 0) } as const);
    actions.set(message, action);
  }
};

/** In a dispatch that is not being sent only the messages of pending rows are disposed of; the others do as ever. */
export const handleInactive = async (deps: SendDeps, group: Group, actions: Actions): Promise<void> => {
  const found = await deps.recipients.find(group.key);
  if (found !== 'unavailable') await handleRefused(deps, group, found, actions);
};

const handleOne = (
  deps: SendDeps,
  group: Group,
  message: RecipientMessage,
  found: StoredRecipient | undefined,
): Promise<MessageAction> => {
  if (found?.recipient.status === 'PENDING' && !isActive(group.status)) return dispose(deps, group, message);
  return applyDecision(
    deps,
    group,
    message,
    found,
    decideMessage(found?.recipient, message, deps.clock(), deps.policy.maxReceiveCount),
  );
};

const applyDecision = async (
  deps: SendDeps,
  group: Group,
  message: RecipientMessage,
  found: StoredRecipient | undefined,
  decision: MessageDecision,
): Promise<MessageAction> => {
  switch (decision.do) {
    case 'claim':
    case 'note-unclear':
      // It moved between the claim and the look.
      return waitOrRequeue(message, deps.clock() + LOOK_AGAIN_MS, deps.policy.maxReceiveCount);
    case 'reopen':
      return group.status === 'CANCELLED' ? { do: 'delete' } : reopen(deps, group, message, found);
    case 'delete':
      if (found === undefined) deps.observe({ type: 'gone', key: group.key });
      return decision;
    case 'wait':
    case 'requeue':
    case 'keep-failing':
      return decision;
  }
};

/** A resume makes new messages for the pending rows of a stopped dispatch; those of a cancelled one get none. */
const dispose = async (
  { recipients, policy, clock, observe }: SendDeps,
  { key, status }: Group,
  message: RecipientMessage,
): Promise<MessageAction> => {
  if (status === 'STOPPED') return { do: 'delete' };
  const result = await recipients.cancel(key, clock());
  if (result !== 'written') return waitOrRequeue(message, clock() + LOOK_AGAIN_MS, policy.maxReceiveCount);
  observe({ type: 'cancelled', key });
  return { do: 'delete' };
};

/** A redriven message only reopens; the relay sends a fresh one. It stays itself until then: its id is what tells the redrive. */
const reopen = async (
  { recipients, clock, random, observe }: SendDeps,
  { status }: Group,
  message: RecipientMessage,
  found: StoredRecipient | undefined,
): Promise<MessageAction> => {
  const later = waitUntil(message, clock() + troubleMs(message, random()));
  if (found?.recipient.status !== 'FAILED') return later;
  const { id, sentAt, key } = message;
  const transition = advance(found.recipient, { type: 'redriven', message: { id, sentAt } }, clock());
  if (!transition.ok) return later;
  const result = await recipients.reopen(key, found.recipient, transition.next, status);
  if (result !== 'written') return later;
  observe({ type: 'reopened', key, round: transition.next.round });
  return { do: 'delete' };
};
