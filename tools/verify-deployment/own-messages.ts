import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';

const PER_CALL = 10;
const MOST_CALLS = 20;
/** Long enough to look at all of them once; each is shown again right after. */
const HIDDEN_SECONDS = 30;

/** Receives what is visible in a queue, once each. */
const receiveAll = async (sqs: SQSClient, queueUrl: string): Promise<Message[]> => {
  const all: Message[] = [];
  for (let call = 0; call < MOST_CALLS; call += 1) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: queueUrl,
        MaxNumberOfMessages: PER_CALL,
        VisibilityTimeout: HIDDEN_SECONDS,
        WaitTimeSeconds: 1,
      }),
    );
    if (Messages.length === 0) break;
    all.push(...Messages);
  }
  return all;
};

const showAgain = async (sqs: SQSClient, queueUrl: string, messages: readonly Message[]): Promise<void> => {
  for (const { ReceiptHandle } of messages) {
    await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl: queueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
  }
};

/** The id of the message with the marker in a dead-letter queue, undefined if there is none; all messages stay. */
export const findOwn = async (sqs: SQSClient, queueUrl: string, marker: string): Promise<string | undefined> => {
  const all = await receiveAll(sqs, queueUrl);
  await showAgain(sqs, queueUrl, all);
  return all.find(({ Body = '' }) => Body.includes(marker))?.MessageId;
};

/** Deletes the messages with the marker from a queue. @returns how many there were */
export const deleteOwn = async (sqs: SQSClient, queueUrl: string, marker: string): Promise<number> => {
  const all = await receiveAll(sqs, queueUrl);
  const own = all.filter(({ Body = '' }) => Body.includes(marker));
  await showAgain(
    sqs,
    queueUrl,
    all.filter((message) => !own.includes(message)),
  );
  for (const { ReceiptHandle } of own) await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
  return own.length;
};
