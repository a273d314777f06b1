import * as z from 'zod';

import { fromIso } from '../../domain/shared/instant.ts';

const Envelope = z.object({
  Type: z.literal('Notification'),
  TopicArn: z.string().min(1),
  Message: z.string(),
  Timestamp: z.iso.datetime({ offset: true }).transform(fromIso),
});

/** SNS hands a message to its queue within moments; a dead letter is redriven by a person, who needs longer. */
const LONGEST_DELIVERY_MS = 60_000;

/** A message of a queue that is subscribed to a topic. */
export interface TopicMessage {
  /** What was published. */
  readonly body: string;
  /** The topic delivered it in SNS's envelope, although the subscription asks for raw delivery; a redrive did not. */
  readonly isWronglyEnveloped: boolean;
}

/**
 * Takes a published message out of SNS's envelope, if it is in one: SNS may write its dead letters with or without it.
 * @param sentAt when SQS took the message
 */
export const openEnvelope = (body: string, sentAt: number): TopicMessage => {
  const envelope = Envelope.safeParse(parseJson(body));
  if (!envelope.success) return { body, isWronglyEnveloped: false };
  const { Message, Timestamp } = envelope.data;
  return { body: Message, isWronglyEnveloped: sentAt - Timestamp < LONGEST_DELIVERY_MS };
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
