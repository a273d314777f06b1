import type { Instant } from '../shared/instant.ts';
import { type Attempt, withResult } from './attempt.ts';
import { advance, type Recipient } from './recipient.ts';

/** SES's word that it took a mail of ours: an event of it, or an answer that came late. */
export interface SendConfirmation {
  readonly round: number;
  readonly n: number;
  /** The lease token: it identifies the attempt. */
  readonly lease: string;
  readonly messageId: string;
  /** When SES took it. */
  readonly sentAt: Instant;
}

/** What a proof does. `duplicate`: the recipient got a second mail; `known`: nothing new. */
export type Proven =
  | { readonly outcome: 'confirmed'; readonly next: Recipient; readonly attempts: Attempt[] }
  | { readonly outcome: 'duplicate'; readonly next: Recipient; readonly attempts: Attempt[] }
  | { readonly outcome: 'known' };

/** Whether SES's answer has recorded all that the Send event of that attempt tells. */
export const isRecorded = (
  recipient: Recipient,
  attempts: readonly Attempt[],
  { lease, messageId }: Pick<SendConfirmation, 'lease' | 'messageId'>,
): boolean =>
  recipient.status === 'SENT' &&
  recipient.messageId === messageId &&
  attempts.some((attempt) => attempt.lease === lease && attempt.messageId === messageId);

/** Any mail that SES took makes its recipient SENT, whatever state and round it is in; a second one is counted once. */
export const confirmSend = (recipient: Recipient, attempts: readonly Attempt[], confirmation: SendConfirmation): Proven => {
  const { messageId, sentAt } = confirmation;
  const isKnown =
    (recipient.status === 'SENT' && recipient.messageId === messageId) ||
    attempts.some((attempt) => attempt.messageId === messageId);
  if (isKnown && recipient.status === 'SENT') return { outcome: 'known' };
  const recorded = withConfirmation(attempts, confirmation);
  const transition = advance(recipient, { type: 'confirmed', messageId, sentAt }, sentAt);
  return transition.ok
    ? { outcome: 'confirmed', next: transition.next, attempts: recorded }
    : { outcome: 'duplicate', next: recipient, attempts: recorded };
};

/** An attempt that was dropped for want of room comes back: its message id tells a duplicate from a repeated event. */
const withConfirmation = (attempts: readonly Attempt[], { round, n, lease, messageId, sentAt }: SendConfirmation): Attempt[] => {
  const isThere = attempts.some((attempt) => attempt.lease === lease);
  const all = isThere ? attempts : [{ round, n, lease, startedAt: sentAt }, ...attempts];
  return withResult(all, lease, { outcome: 'sent', messageId });
};
