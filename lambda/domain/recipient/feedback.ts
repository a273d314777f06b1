import type { Arrival } from '../sending/watermark.ts';
import type { Instant } from '../shared/instant.ts';
import type { MailEvent } from './delivery.ts';
import type { RecipientKey } from './recipient.ts';
import type { SendConfirmation } from './send-confirmation.ts';

/** Which attempt a mail was: what its tags say. */
export interface MailOrigin extends Pick<SendConfirmation, 'round' | 'n' | 'lease'> {
  readonly key: RecipientKey;
}

/** An event of SES about a mail of ours. */
export interface AttributedEvent {
  readonly kind: 'event';
  readonly origin: MailOrigin;
  readonly event: MailEvent;
  /** When SES took the mail. */
  readonly sentAt: Instant;
}

/** What one message of the feedback queue says. */
export type Feedback =
  | AttributedEvent
  /** About a mail that was sent only to hear of it. */
  | { readonly kind: 'canary'; readonly sentAt: Instant; readonly isSend: boolean }
  /** Of a kind that says nothing about a mail's fate, or that nobody knows. */
  | { readonly kind: 'ignored'; readonly eventType: string }
  /** About a mail without tags of ours: somebody else's, through our configuration set. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'malformed' };

/** A message of the feedback queue, and how it came. */
export type ReceivedFeedback = Feedback & { readonly arrival: Arrival };
