import type { Instant } from '../shared/instant.ts';
import { compareWithDead, type DeadMessage, type Recipient, type RecipientIn } from './recipient.ts';

/** A message of the send queue, as far as the rule looks at it. */
export interface SendMessage extends DeadMessage {
  /** Deliveries so far, this one included (SQS's ApproximateReceiveCount). */
  readonly receiveCount: number;
  readonly receivedAt: Instant;
}

/** What happens to a message. */
export type MessageAction =
  | { readonly do: 'delete' }
  /** Hidden until then, and left on the queue. */
  | { readonly do: 'wait'; readonly until: Instant }
  /** Replaced by a fresh message of ours that appears then. */
  | { readonly do: 'requeue'; readonly until: Instant }
  /** Left failing at once, so that SQS itself moves it to the dead-letter queue in the end. */
  | { readonly do: 'keep-failing' };

/** What to do about a recipient whose claim was not granted. */
export type MessageDecision =
  MessageAction | { readonly do: 'note-unclear' } | { readonly do: 'reopen' } | { readonly do: 'claim' };

/** Receives that must be left for a message that only waits; with fewer it is replaced by a fresh one. */
const RECEIVES_KEPT = 2;

/** SQS counts a message's visibility from its receive and allows 12 h of it in all. */
const LONGEST_WAIT_MS = 12 * 3_600_000 - 5_000;

/** Keeps a message waiting; a message about to be taken for poison is replaced. */
export const waitOrRequeue = (message: SendMessage, until: Instant, maxReceiveCount: number): MessageAction =>
  maxReceiveCount - message.receiveCount <= RECEIVES_KEPT ? { do: 'requeue', until } : waitUntil(message, until);

/** Keeps a message waiting, never beyond what SQS allows. */
export const waitUntil = (message: SendMessage, until: Instant): MessageAction => ({
  do: 'wait',
  until: Math.min(until, message.receivedAt + LONGEST_WAIT_MS),
});

/** The rule: what a message does, by the row it meets. `undefined` is a row that is gone though its dispatch is known. */
export const decideMessage = (
  row: Recipient | undefined,
  message: SendMessage,
  now: Instant,
  maxReceiveCount: number,
): MessageDecision => {
  switch (row?.status) {
    case 'PENDING':
      return row.nextAttemptAt <= now ? { do: 'claim' } : waitOrRequeue(message, row.nextAttemptAt, maxReceiveCount);
    case 'PROCESSING':
      return row.lease.until <= now ? { do: 'note-unclear' } : waitOrRequeue(message, row.lease.until, maxReceiveCount);
    case 'FAILED':
      return decideFailed(row, message);
    case 'SENT':
    case 'UNKNOWN':
    case 'CANCELLED':
    case undefined:
      return { do: 'delete' };
  }
};

const decideFailed = (row: RecipientIn<'FAILED'>, message: SendMessage): MessageDecision => {
  switch (compareWithDead(row, message)) {
    case 'redrive':
      return { do: 'reopen' };
    case 'the-dead-one':
      return { do: 'keep-failing' };
    case 'stray':
      return { do: 'delete' };
  }
};
