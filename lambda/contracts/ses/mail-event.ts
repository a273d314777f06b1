import * as z from 'zod';

import type { MailEvent, MailEventKind } from '../../domain/recipient/delivery.ts';
import type { Feedback, MailOrigin } from '../../domain/recipient/feedback.ts';
import { fromIso } from '../../domain/shared/instant.ts';

const Timestamp = z.iso.datetime({ offset: true }).transform(fromIso);

/** A code of SES. Free text is none: it may quote an address. */
const Word = z.string().regex(/^[\w/-]{1,60}$/);

const MaybeWord = Word.optional().catch(undefined);
const MaybeTime = Timestamp.optional().catch(undefined);

/** The part of an event about its own kind. What of it cannot be read is left out: the mail's own part proves as much. */
const part = <T extends z.ZodRawShape>(shape: T) =>
  z
    .object({ timestamp: MaybeTime, ...shape })
    .optional()
    .catch(undefined);

/** An event as SES publishes it to a topic, as far as it is looked at; its addresses, headers and texts are not. */
const SesEvent = z.object({
  // Absent in notifications of an identity, which carry no tags either.
  eventType: z.string().catch(''),
  mail: z.object({
    timestamp: Timestamp,
    messageId: z.string().min(1).max(256),
    tags: z.record(z.string(), z.unknown()).catch({}),
  }),
  bounce: part({ bounceType: MaybeWord, bounceSubType: MaybeWord }),
  complaint: part({ complaintFeedbackType: MaybeWord, complaintSubType: MaybeWord }),
  delivery: part({}),
  deliveryDelay: part({ delayType: MaybeWord }),
});

type SesEvent = z.output<typeof SesEvent>;

/** SES writes the name of one kind with a space, and of another without. */
const KIND_OF: ReadonlyMap<string, MailEventKind> = new Map([
  ['Send', 'send'],
  ['Delivery', 'delivery'],
  ['DeliveryDelay', 'delivery-delay'],
  ['Bounce', 'bounce'],
  ['Complaint', 'complaint'],
  ['Reject', 'reject'],
  ['Rendering Failure', 'rendering-failure'],
]);

/**
 * Only a permanent bounce says that the address does not take mails. A transient or undetermined one, and one whose type
 * cannot be read, may be an automatic reply to a mail that was delivered.
 */
const kindOf = (eventType: string, { bounce }: SesEvent): MailEventKind | undefined => {
  const kind = KIND_OF.get(eventType);
  return kind === 'bounce' && bounce?.bounceType !== 'Permanent' ? 'soft-bounce' : kind;
};

/** Subtypes that say: SES did not even try, since a list of it names the address. */
const SUPPRESSED: ReadonlySet<string | undefined> = new Set([
  'Suppressed',
  'OnAccountSuppressionList',
  'OnTenantSuppressionList',
  'EmailValidationSuppressed',
]);

/** A tag may have several values; ours have one. */
const Tag = z.tuple([z.string()], z.unknown()).transform(([value]) => value);
const Whole = Tag.pipe(z.string().regex(/^\d{1,9}$/)).transform(Number);
const Name = Tag.pipe(z.string().min(1));
/** An applyId as it is tagged: base64url, since a tag's value allows few characters. */
const ApplyId = Tag.pipe(z.string().regex(/^[\w-]+$/)).transform((value) => Buffer.from(value, 'base64url').toString('utf8'));

const Tags = z
  .object({
    dispatchId: Name,
    shard: Whole,
    recipient: ApplyId,
    round: Whole,
    attempt: Whole,
    lease: Tag.pipe(z.string().regex(/^\w[\w-]{0,63}$/)),
  })
  .transform(({ dispatchId, shard, recipient, round, attempt, lease }): MailOrigin => ({
    key: { dispatchId, shard, applyId: recipient },
    round,
    n: attempt,
    lease,
  }));

/** Reads the body of a message of the feedback queue: the event itself, since the topic delivers it raw. */
export const parseMailEvent = (body: string): Feedback => {
  const parsed = SesEvent.safeParse(parseJson(body));
  if (!parsed.success) return { kind: 'malformed' };
  const { eventType, mail } = parsed.data;
  if (Tag.safeParse(mail.tags['canary']).data === '1')
    return { kind: 'canary', sentAt: mail.timestamp, isSend: eventType === 'Send' };
  if (!['dispatchId', 'recipient', 'lease'].some((name) => name in mail.tags)) return { kind: 'foreign' };

  const origin = Tags.safeParse(mail.tags);
  if (!origin.success) return { kind: 'malformed' };
  const kind = kindOf(eventType, parsed.data);
  if (kind === undefined || parsed.data.complaint?.complaintFeedbackType === 'not-spam') {
    return { kind: 'ignored', eventType: /^[A-Za-z ]{1,40}$/.test(eventType) ? eventType : 'none' };
  }
  return { kind: 'event', origin: origin.data, event: toMailEvent(kind, parsed.data), sentAt: mail.timestamp };
};

const toMailEvent = (kind: MailEventKind, { mail, ...parts }: SesEvent): MailEvent => {
  const { at, detail, subType } = ownPart(kind, parts);
  const word = Word.safeParse(detail).data;
  return {
    kind,
    messageId: mail.messageId,
    at: at ?? mail.timestamp,
    ...(word !== undefined && { detail: word }),
    ...(SUPPRESSED.has(subType) && { suppressed: true }),
  };
};

interface OwnPart {
  readonly at?: number | undefined;
  readonly detail?: string | undefined;
  readonly subType?: string | undefined;
}

const ownPart = (kind: MailEventKind, { bounce, complaint, delivery, deliveryDelay }: Omit<SesEvent, 'mail'>): OwnPart => {
  switch (kind) {
    case 'bounce':
    case 'soft-bounce': {
      const words = [bounce?.bounceType, bounce?.bounceSubType].filter((word) => word !== undefined);
      return { at: bounce?.timestamp, detail: words.join('/'), subType: bounce?.bounceSubType };
    }
    case 'complaint': {
      const subType = complaint?.complaintSubType;
      return { at: complaint?.timestamp, detail: complaint?.complaintFeedbackType ?? subType, subType };
    }
    case 'delivery':
      return { at: delivery?.timestamp };
    case 'delivery-delay':
      return { at: deliveryDelay?.timestamp, detail: deliveryDelay?.delayType };
    case 'send':
    case 'reject':
    case 'rendering-failure':
      return {};
  }
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
