import { parseSimulated } from '../faults/simulator.ts';
import type { EventKind } from './kinds.ts';

/** One thing that happens to a mail after SES took it. */
export interface Happening {
  readonly kind: EventKind;
  readonly bounce?: Bounce;
}

/** SES's type and subtype, and what the receiving server said; an automatic reply has no such report. */
interface Bounce {
  readonly type: string;
  readonly subType: string;
  readonly report?: { readonly status: string; readonly diagnosis: string };
}

const SEND: Happening = { kind: 'Send' };
const DELIVERY: Happening = { kind: 'Delivery' };
const DELIVERED = [SEND, DELIVERY];

const bounced = (type: string, subType: string, status: string, diagnosis: string): readonly Happening[] => [
  SEND,
  { kind: 'Bounce', bounce: { type, subType, report: { status, diagnosis } } },
];

/** A mail that was delivered, and answered automatically. */
const replied = (type: string, subType: string): readonly Happening[] => [
  ...DELIVERED,
  { kind: 'Bounce', bounce: { type, subType } },
];

/** As AWS documents its mailbox simulator. */
const OF_SES: Readonly<Record<string, readonly Happening[]>> = {
  success: DELIVERED,
  // AWS's "Using the mailbox simulator": the mail is accepted and delivered, and an automatic reply goes to the Return-Path,
  // which is SES's own. "Monitoring using notifications": such replies are published as bounces are, and do not count in the
  // bounce rate. Recorded from the simulator: Delivery, then Transient/General (BeamLabEU/phoenix_kit issue 156).
  ooto: replied('Transient', 'General'),
  bounce: bounced('Permanent', 'General', '5.1.1', 'smtp; 550 5.1.1 user unknown'),
  complaint: [...DELIVERED, { kind: 'Complaint' }],
  suppressionlist: bounced('Permanent', 'Suppressed', '5.1.1', 'Amazon SES has suppressed sending to this address'),
};

/** What AWS's simulator has no address for. */
const OWN: Readonly<Record<string, readonly Happening[]>> = {
  reject: [SEND, { kind: 'Reject' }],
  delay: [SEND, { kind: 'DeliveryDelay' }],
  // An automatic reply that SES cannot read: seen from real mailboxes in place of Transient/General.
  'unread-reply': replied('Undetermined', 'Undetermined'),
  'soft-bounce': bounced('Transient', 'MailboxFull', '4.2.2', 'smtp; 452 4.2.2 mailbox full'),
  suppressed: bounced('Permanent', 'OnAccountSuppressionList', '5.1.1', "on the account's suppression list"),
  // Not even sent, so there is no Send event either.
  'rendering-failure': [{ kind: 'Rendering Failure' }],
};

/** What happens to a mail to the address, in order. */
export const eventPlanOf = (recipient: string): readonly Happening[] => {
  const address = parseSimulated(recipient);
  if (address === undefined) return DELIVERED;
  return (address.isOfSes ? OF_SES[address.name] : (OWN[address.name] ?? OF_SES[address.name])) ?? DELIVERED;
};
