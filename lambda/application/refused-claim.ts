import { withResult } from '../domain/attempt.ts';
import type { Instant } from '../domain/instant.ts';
import { meet, type MessageAction, waitOrRequeue, waitUntil } from '../domain/message-rule.ts';
import { advance, type In, isFinal } from '../domain/recipient.ts';
import { settleUnclear } from '../domain/unclear.ts';
import { type Group, groupId, LOOK_AGAIN_MS, type RecipientMessage } from './attempt-end.ts';
import type { StoredRecipient } from './ports.ts';
import type { SendRecipientsDeps } from './send-recipients.ts';

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
  { recipients, policy, clock }: SendRecipientsDeps,
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

/** Settles a recipient whose lease has ended, once an invocation; undefined: there is nothing to settle. */
export const settleIfOver = async (
  deps: SendRecipientsDeps,
  group: Group,
  found: StoredRecipient | undefined,
  settledOnce: Set<string>,
): Promise<MessageAction | 'claim-again' | undefined> => {
  if (found?.recipient.status !== 'PROCESSING' || found.recipient.lease.until > deps.clock()) return undefined;
  if (settledOnce.has(groupId(group.key))) return undefined;
  settledOnce.add(groupId(group.key));
  return settle(deps, group, { ...found, recipient: found.recipient });
};

/** Each message for itself: of two for one failed recipient, one may be the dead letter and the other a stray. */
export const meetRefused = async (
  deps: SendRecipientsDeps,
  message: RecipientMessage,
  found: StoredRecipient | undefined,
): Promise<MessageAction> => {
  const { policy, clock } = deps;
  const meeting = meet(found?.recipient, message, clock(), policy.maxReceiveCount);
  switch (meeting.do) {
    case 'claim':
    case 'settle':
      // It moved between the claim and the look, or was settled by somebody else meanwhile.
      return waitOrRequeue(message, clock() + LOOK_AGAIN_MS, policy.maxReceiveCount);
    case 'reopen':
      return reopen(deps, message, found);
    case 'delete':
    case 'wait':
    case 'requeue':
    case 'keep-failing':
      return meeting;
  }
};

const settle = async (
  { recipients, policy, clock, observe }: SendRecipientsDeps,
  { key }: Group,
  { recipient, attempts }: StoredRecipient & { readonly recipient: In<'PROCESSING'> },
): Promise<MessageAction | 'claim-again' | undefined> => {
  const { token } = recipient.lease;
  const type = settleUnclear(policy.unclear, recipient, attempts, policy.attemptsPerRound);
  const transition = advance(recipient, { type, token }, clock());
  if (!transition.ok) return undefined;
  const [result] = await recipients.writeAll([
    { key, token, next: transition.next, attempts: withResult(attempts, token, { outcome: 'unclear' }) },
  ]);
  if (result !== 'written') return undefined;
  const unsent = type === 'settled-unsent';
  observe({ type: unsent ? 'resent' : 'unknown', key, round: recipient.round, attempt: recipient.attemptCount });
  return unsent ? 'claim-again' : { do: 'delete' };
};

/** A redriven message only reopens; the relay sends a fresh one. It stays itself until then: its id is what tells the redrive. */
const reopen = async (
  { recipients, clock, random, observe }: SendRecipientsDeps,
  message: RecipientMessage,
  found: StoredRecipient | undefined,
): Promise<MessageAction> => {
  const later = waitUntil(message, clock() + troubleMs(message, random()));
  if (found?.recipient.status !== 'FAILED') return later;
  const { id, sentAt, key } = message;
  const transition = advance(found.recipient, { type: 'redriven', message: { id, sentAt } }, clock());
  if (!transition.ok) return later;
  const result = await recipients.reopen(key, found.recipient, transition.next);
  if (result !== 'written') return later;
  observe({ type: 'reopened', key, round: transition.next.round });
  return { do: 'delete' };
};
