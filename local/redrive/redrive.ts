import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import * as z from 'zod';

const PER_CALL = 10;

const Body = z.object({ dispatchId: z.string().min(1) });

/** From where to where messages go. */
export interface RedriveOptions {
  readonly sqs: SQSClient;
  readonly deadLetterQueueUrl: string;
  readonly queueUrl: string;
}

/** The group that our own messages are sent under; others, such as SES's events, have none. */
const groupOf = (body: string): string | undefined => {
  try {
    return Body.safeParse(JSON.parse(body)).data?.dispatchId;
  } catch {
    return undefined;
  }
};

const countWaiting = async ({ sqs, deadLetterQueueUrl }: RedriveOptions): Promise<number> => {
  const command = new GetQueueAttributesCommand({
    QueueUrl: deadLetterQueueUrl,
    AttributeNames: ['ApproximateNumberOfMessages'],
  });
  const { Attributes = {} } = await sqs.send(command);
  return Number(Attributes['ApproximateNumberOfMessages'] ?? 0);
};

/** A new message with the old body, and only then the old one goes. */
const move = async ({ sqs, deadLetterQueueUrl, queueUrl }: RedriveOptions, message: Message): Promise<void> => {
  const { Body: body = '', MessageAttributes, ReceiptHandle } = message;
  const group = groupOf(body);
  await sqs.send(
    new SendMessageCommand({
      QueueUrl: queueUrl,
      MessageBody: body,
      ...(MessageAttributes && { MessageAttributes }),
      ...(group !== undefined && { MessageGroupId: group }),
    }),
  );
  await sqs.send(new DeleteMessageCommand({ QueueUrl: deadLetterQueueUrl, ReceiptHandle }));
};

/**
 * Moves dead letters back to their queue as SQS's own redrive does: each becomes a new message, with an id and a sent time of
 * its own. Those that arrive meanwhile stay, or a message that fails at once would go round for ever.
 * @returns how many were moved
 */
export const redrive = async (options: RedriveOptions): Promise<number> => {
  const waiting = await countWaiting(options);
  let moved = 0;
  while (moved < waiting) {
    const command = new ReceiveMessageCommand({
      QueueUrl: options.deadLetterQueueUrl,
      MaxNumberOfMessages: Math.min(PER_CALL, waiting - moved),
      MessageAttributeNames: ['All'],
    });
    const { Messages = [] } = await options.sqs.send(command);
    if (Messages.length === 0) break;
    for (const message of Messages) await move(options, message);
    moved += Messages.length;
  }
  return moved;
};
