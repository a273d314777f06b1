import type { MailEvent } from '../../lambda/domain/recipient/delivery.ts';
import type { AttributedEvent, MailOrigin } from '../../lambda/domain/recipient/feedback.ts';
import type { SendConfirmation } from '../../lambda/domain/recipient/send-confirmation.ts';
import { aKey } from './builders.ts';
import { T0 } from './clock.ts';

/** SES's word that it took the mail `ses-1` at T0. */
export const aMailEvent = (event: Partial<MailEvent> = {}): MailEvent => ({
  kind: 'send',
  messageId: 'ses-1',
  at: T0,
  ...event,
});

/** The same as a proof about the attempt with lease `ours`. */
export const aConfirmation = (confirmation: Partial<SendConfirmation> = {}): SendConfirmation => ({
  round: 1,
  n: 1,
  lease: 'ours',
  messageId: 'ses-1',
  sentAt: T0,
  ...confirmation,
});

/** An event about the attempt with lease `ours` of recipient `a-1`. */
export const anEvent = (
  event: Partial<MailEvent> = {},
  { sentAt = T0, ...origin }: Partial<MailOrigin> & { readonly sentAt?: number } = {},
): AttributedEvent => ({
  kind: 'event',
  origin: { key: aKey(), round: 1, n: 1, lease: 'ours', ...origin },
  event: aMailEvent(event),
  sentAt,
});

/** The body of a message of the feedback queue, as SES writes it and the topic delivers it. */
export const mailEventBody = (
  { origin: { key, round, n, lease }, event, sentAt }: AttributedEvent,
  destination = 'kim@example.com',
): string => {
  const at = new Date(event.at).toISOString();
  const [bounceType, bounceSubType] = event.detail?.split('/') ?? [];
  const recipient = [{ emailAddress: destination, diagnosticCode: `smtp; 550 <${destination}>: unknown` }];
  const bounce = { eventType: 'Bounce', bounce: { timestamp: at, bounceType, bounceSubType, bouncedRecipients: recipient } };
  const parts = {
    send: { eventType: 'Send', send: {} },
    delivery: { eventType: 'Delivery', delivery: { timestamp: at, recipients: [destination] } },
    'delivery-delay': { eventType: 'DeliveryDelay', deliveryDelay: { timestamp: at, delayedRecipients: recipient } },
    bounce,
    'soft-bounce': bounce,
    complaint: { eventType: 'Complaint', complaint: { timestamp: at, complainedRecipients: recipient } },
    reject: { eventType: 'Reject', reject: { reason: 'Bad content' } },
    'rendering-failure': { eventType: 'Rendering Failure', failure: { errorMessage: `no value for ${destination}` } },
  };
  return JSON.stringify({
    ...parts[event.kind],
    mail: {
      timestamp: new Date(sentAt).toISOString(),
      messageId: event.messageId,
      destination: [destination],
      commonHeaders: { to: [destination], subject: `Dear ${destination}` },
      tags: {
        'ses:configuration-set': ['mail-events'],
        dispatchId: [key.dispatchId],
        shard: [String(key.shard)],
        recipient: [Buffer.from(key.applyId, 'utf8').toString('base64url')],
        round: [String(round)],
        attempt: [String(n)],
        lease: [lease],
      },
    },
  });
};

/** The body of the event of a canary. */
export const canaryBody = (sentAt = T0): string =>
  JSON.stringify({
    eventType: 'Send',
    send: {},
    mail: { timestamp: new Date(sentAt).toISOString(), messageId: 'canary-1', tags: { canary: ['1'] } },
  });
