import { createHash } from 'node:crypto';

import { ACCOUNT, REGION } from '../../cloudformation/types/identity.ts';
import { bareAddress, type Mail } from '../mail.ts';
import type { Happening } from './event-plan.ts';
import type { EventKind } from './kinds.ts';

/** A mail as its events show it: without its text. */
export type EventMail = Omit<Mail, 'body'> & { readonly configurationSetName: string };

/** Milliseconds from SES taking the mail to each of its events; a mail's events are the same whenever they are made. */
const AFTER_MS: Readonly<Record<EventKind, number>> = {
  Send: 0,
  'Rendering Failure': 1,
  Reject: 1,
  DeliveryDelay: 1,
  Delivery: 1,
  Bounce: 2,
  Complaint: 2,
};

const DELAYED_MS = 12 * 3_600_000;
const MTA = 'a8-50.smtp-out.amazonses.com';

const domainOf = (address: string): string => bareAddress(address).slice(bareAddress(address).lastIndexOf('@') + 1);

const feedbackIdOf = ({ messageId }: EventMail, kind: EventKind): string => {
  const hash = createHash('sha256').update(`${kind} ${messageId}`).digest('hex');
  return `0100${hash.slice(0, 12)}-${hash.slice(12, 20)}-${hash.slice(20, 24)}-${hash.slice(24, 28)}-${hash.slice(28, 40)}-000000`;
};

const describeMail = (mail: EventMail, kind: EventKind) => {
  const { at, messageId, from, to, replyTo, subject } = mail;
  return {
    timestamp: at,
    source: from,
    sourceArn: `arn:aws:ses:${REGION}:${ACCOUNT}:identity/${domainOf(from)}`,
    sendingAccountId: ACCOUNT,
    messageId,
    destination: to,
    headersTruncated: false,
    headers: [
      { name: 'From', value: from },
      ...(replyTo.length > 0 ? [{ name: 'Reply-To', value: replyTo.join(', ') }] : []),
      { name: 'To', value: to.join(', ') },
      { name: 'Subject', value: subject },
      { name: 'MIME-Version', value: '1.0' },
      ...mail.headers,
    ],
    commonHeaders: { from: [from], ...(replyTo.length > 0 && { replyTo }), to, messageId, subject },
    tags: {
      'ses:operation': ['SendEmail'],
      'ses:configuration-set': [mail.configurationSetName],
      'ses:source-ip': ['127.0.0.1'],
      'ses:from-domain': [domainOf(from)],
      'ses:caller-identity': ['local'],
      ...(kind === 'Delivery' && { 'ses:outgoing-ip': ['127.0.0.1'] }),
      ...Object.fromEntries(Object.entries(mail.tags).map(([name, value]) => [name, [value]])),
    },
  };
};

/** What a receiving server said of a recipient. */
const toReport = ({ status, diagnosis }: { readonly status: string; readonly diagnosis: string }) => ({
  action: 'failed',
  status,
  diagnosticCode: diagnosis,
});

/** The part of an event that its kind names. */
const describeHappening = (mail: EventMail, recipient: string, { kind, bounce }: Happening): Record<string, unknown> => {
  const taken = Date.parse(mail.at);
  const timestamp = new Date(taken + AFTER_MS[kind]).toISOString();
  const feedbackId = feedbackIdOf(mail, kind);
  const emailAddress = bareAddress(recipient);
  switch (kind) {
    case 'Send':
      return { send: {} };
    case 'Delivery':
      return {
        delivery: {
          timestamp,
          processingTimeMillis: AFTER_MS.Delivery,
          recipients: [emailAddress],
          smtpResponse: '250 2.0.0 OK',
          reportingMTA: MTA,
        },
      };
    case 'Bounce': {
      const report = bounce?.report;
      return {
        bounce: {
          feedbackId,
          bounceType: bounce?.type,
          bounceSubType: bounce?.subType,
          bouncedRecipients: [{ emailAddress, ...(report && toReport(report)) }],
          timestamp,
          ...(report && { reportingMTA: `dsn; ${MTA}` }),
        },
      };
    }
    case 'Complaint':
      return {
        complaint: {
          feedbackId,
          complaintSubType: null,
          complainedRecipients: [{ emailAddress }],
          timestamp,
          userAgent: 'Amazon SES Mailbox Simulator',
          complaintFeedbackType: 'abuse',
          arrivalDate: timestamp,
        },
      };
    case 'Reject':
      return { reject: { reason: 'Bad content' } };
    case 'DeliveryDelay':
      return {
        deliveryDelay: {
          timestamp,
          delayType: 'MailboxFull',
          expirationTime: new Date(taken + DELAYED_MS).toISOString(),
          delayedRecipients: [{ emailAddress, status: '4.2.2', diagnosticCode: 'smtp; 452 4.2.2 mailbox full' }],
          reportingMTA: MTA,
        },
      };
    case 'Rendering Failure':
      return {
        failure: { templateName: 'local', errorMessage: "Attribute 'name' is not present in the rendering data." },
      };
  }
};

/** The event in the JSON that SES publishes to SNS. */
export const toSesEvent = (mail: EventMail, recipient: string, happening: Happening): Record<string, unknown> => ({
  eventType: happening.kind,
  mail: describeMail(mail, happening.kind),
  ...describeHappening(mail, recipient, happening),
});
