import type { Instant } from '../shared/instant.ts';

/**
 * How far a mail got after SES took it, from nothing known to what weighs most. A soft bounce is below a delivery: an
 * automatic reply, such as an out-of-office one, is published as a soft bounce of a mail that was delivered.
 */
export const DELIVERY_STATES = [
  'none',
  'delayed',
  'soft-bounced',
  'delivered',
  'rejected',
  'suppressed',
  'bounced',
  'complained',
] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Kinds of events that SES publishes about a mail. */
export const MAIL_EVENT_KINDS = [
  'send',
  'delivery',
  'delivery-delay',
  /** Permanent: the address does not take mails. */
  'bounce',
  /** Transient or undetermined: SES gave up for now, or an automatic reply came. */
  'soft-bounce',
  'complaint',
  'reject',
  'rendering-failure',
] as const;

export type MailEventKind = (typeof MAIL_EVENT_KINDS)[number];

/** One event of SES about a mail, without any address or text of SES. */
export interface MailEvent {
  readonly kind: MailEventKind;
  readonly messageId: string;
  readonly at: Instant;
  /** SES's own word, such as a bounce's `Permanent/General`. */
  readonly detail?: string;
  /** The address is on a suppression list, so SES did not try. */
  readonly suppressed?: boolean;
}

/** The newest events are kept; an item must stay small. */
export const EVENTS_KEPT = 20;

const STATE_OF: Readonly<Record<MailEventKind, DeliveryState>> = {
  send: 'none',
  'delivery-delay': 'delayed',
  delivery: 'delivered',
  reject: 'rejected',
  'rendering-failure': 'rejected',
  bounce: 'bounced',
  'soft-bounce': 'soft-bounced',
  complaint: 'complained',
};

/** The delivery state that one event speaks of. */
export const deliveryOf = ({ kind, suppressed = false }: MailEvent): DeliveryState =>
  suppressed ? 'suppressed' : STATE_OF[kind];

/** The state after one more event: events come in any order, so only the heavier one counts. */
export const worse = (a: DeliveryState, b: DeliveryState): DeliveryState =>
  DELIVERY_STATES.indexOf(a) >= DELIVERY_STATES.indexOf(b) ? a : b;

const same = (a: MailEvent, b: MailEvent): boolean =>
  a.kind === b.kind && a.messageId === b.messageId && a.at === b.at && a.detail === b.detail;

/** Adds an event in order of time; undefined: it is there already, or older than all that there is room for. */
export const withEvent = (events: readonly MailEvent[], event: MailEvent): MailEvent[] | undefined => {
  if (events.some((other) => same(other, event))) return undefined;
  const kept = [...events, event].toSorted((a, b) => a.at - b.at).slice(-EVENTS_KEPT);
  return kept.includes(event) ? kept : undefined;
};
