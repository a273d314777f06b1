import { deliveryOf, type MailEventKind, withEvent, worse } from '../../domain/recipient/delivery.ts';
import type { AttributedEvent } from '../../domain/recipient/feedback.ts';
import { isFinal, type RecipientKey, type RecipientStatus } from '../../domain/recipient/recipient.ts';
import { confirmSend, isRecorded } from '../../domain/recipient/send-confirmation.ts';
import type { Patch, RecipientRepository, StoredRecipient } from '../ports/recipients.ts';

/** What came of one message, for logs and metrics: never addresses or texts. */
export interface FeedbackSignal {
  readonly type:
    | MailEventKind
    /** A bounce or complaint that is SES's own decision, not that of the address's host. */
    | 'suppressed'
    /** The event settled what had become of a mail. */
    | 'confirmed'
    /** It did so after the recipient had been given up. */
    | 'late'
    /** The recipient got a second mail. */
    | 'duplicate'
    /** Nobody knows the recipient any more. */
    | 'gone'
    /** The event is kept, and comes again. */
    | 'failed'
    | 'canary'
    | 'ignored'
    | 'foreign'
    | 'malformed'
    /** Events that could not be applied were not kept, so nothing counts as unsent for now. */
    | 'unapplied-not-kept'
    /** Feedback is behind SES, so for a while nothing counts as unsent. */
    | 'behind'
    /** The watermark stays where it is, or an entry of an unapplied event longer than it must. */
    | 'watermark-failed';
  readonly key?: RecipientKey;
  readonly round?: number;
  readonly attempt?: number;
  /** SES's word for what happened, or the kind of event that was ignored. */
  readonly detail?: string;
  /** State in which the event found the recipient. */
  readonly from?: RecipientStatus;
  /** To be described, never to be quoted. */
  readonly error?: unknown;
}

export interface ApplyEventDeps {
  readonly recipients: Pick<RecipientRepository, 'applyPatch'>;
  /** Must not throw. */
  readonly observe: (signal: FeedbackSignal) => void;
}

export type Applied = 'applied' | 'gone' | 'failed';

type ChangeSignal = Pick<FeedbackSignal, 'type' | 'detail' | 'from'>;

interface Change {
  /** Absent: the row says all of it. */
  readonly patch?: Patch;
  readonly signals: readonly ChangeSignal[];
}

/** Sends are counted by message, repeats included, since most of them leave nothing by which a repeat could be known. */
const SEND_ONLY: Change = { signals: [{ type: 'send' }] };

/** What an event changes about a row; undefined: it says nothing new. */
export const changeBy = (row: StoredRecipient, { origin, event, sentAt }: AttributedEvent): Change | undefined => {
  const { round, n, lease } = origin;
  const { messageId, kind, detail, suppressed = false } = event;
  // The Send event of every mail whose answer came: a write for each would tell nothing new.
  if (kind === 'send' && isRecorded(row.recipient, row.attempts, { lease, messageId })) return SEND_ONLY;
  const confirmed = confirmSend(row.recipient, row.attempts, { round, n, lease, messageId, sentAt });
  const events = withEvent(row.events, event);
  const delivery = worse(row.delivery, deliveryOf(event));
  if (confirmed.outcome === 'known' && events === undefined && delivery === row.delivery)
    return kind === 'send' ? SEND_ONLY : undefined;

  const told: ChangeSignal = { type: suppressed ? 'suppressed' : kind, ...(detail !== undefined && { detail }) };
  const kept = { delivery, events: events ?? row.events };
  const { recipient, attempts } = row;
  if (confirmed.outcome === 'known') return { patch: { recipient, attempts, ...kept }, signals: [told] };
  const from = recipient.status;
  const type = confirmed.outcome === 'confirmed' && isFinal(from) ? 'late' : confirmed.outcome;
  return {
    patch: { recipient: confirmed.next, attempts: confirmed.attempts, ...kept },
    signals: [told, { type, from }],
  };
};

/** Applies one event to its row. The same event again finds nothing to change, and unless it is a Send is not counted again. */
export const applyEvent = async ({ recipients, observe }: ApplyEventDeps, event: AttributedEvent): Promise<Applied> => {
  const { key, round, n: attempt } = event.origin;
  const where = { key, round, attempt };
  let change: Change | undefined;
  try {
    const outcome = await recipients.applyPatch(key, (row) => {
      change = changeBy(row, event);
      return change?.patch;
    });
    if (outcome === 'written' || outcome === 'unchanged') {
      for (const signal of change?.signals ?? []) observe({ ...signal, ...where });
      return 'applied';
    }
    observe({ type: outcome === 'gone' ? 'gone' : 'failed', ...where });
    return outcome === 'gone' ? 'gone' : 'failed';
  } catch (error) {
    observe({ type: 'failed', ...where, error });
    return 'failed';
  }
};
