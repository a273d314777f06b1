import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';

import { REGION } from '../../cloudformation/types/identity.ts';
import type { FunctionPool } from '../pool.ts';
import { readBatchAnswer } from './batch-answer.ts';
import { createSemaphore } from './semaphore.ts';

/** Shorter than SQS's most: a waiter that is cut off at a stop or restart is gone sooner. */
const WAIT_SECONDS = 10;

/** One mapping of a queue to a function. */
export interface QueueSourceOptions {
  readonly sqs: SQSClient;
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly pool: FunctionPool;
  readonly batchSize: number;
  readonly maxConcurrency: number;
  readonly reportsItems: boolean;
  /** For tests of crashes: whether what the function answered is lost on the way, so that nothing is deleted. */
  readonly losesAnswer?: () => Promise<boolean>;
  readonly onTrouble: (text: string) => void;
}

/** Something that calls functions until it is stopped; stopping waits for the calls under way. */
export interface EventSource {
  readonly stop: () => Promise<void>;
}

const toRecord = (message: Message, queueArn: string) => ({
  messageId: message.MessageId ?? '',
  receiptHandle: message.ReceiptHandle,
  body: message.Body,
  attributes: message.Attributes ?? {},
  messageAttributes: Object.fromEntries(
    Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [
      name,
      { stringValue: value.StringValue, binaryValue: value.BinaryValue, dataType: value.DataType },
    ]),
  ),
  md5OfBody: message.MD5OfBody,
  eventSource: 'aws:sqs',
  eventSourceARN: queueArn,
  awsRegion: REGION,
});

/** Receives batches and calls the function; deletes what it did not report as failed and touches no visibility. */
export const startQueueSource = (options: QueueSourceOptions): EventSource => {
  const { sqs, queueUrl, queueArn, pool } = options;
  const aborter = new AbortController();
  const stopped = () => aborter.signal.aborted;
  const slots = createSemaphore(options.maxConcurrency);

  const remove = async (messages: readonly Message[]) => {
    if (messages.length === 0) return;
    const Entries = messages.map((message, index) => ({ Id: String(index), ReceiptHandle: message.ReceiptHandle }));
    const { Failed = [] } = await sqs.send(new DeleteMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
    if (Failed.length > 0) options.onTrouble(`${Failed.length} messages could not be deleted from ${queueUrl}`);
  };
  const handle = async (messages: readonly Message[]) => {
    const records = messages.map((message) => toRecord(message, queueArn));
    const ids = records.map(({ messageId }) => messageId);
    const answer = readBatchAnswer(await pool.invoke({ Records: records }), ids, options.reportsItems);
    if (answer.kind === 'failed') {
      options.onTrouble(`${pool.definition.name}: batch of ${messages.length} from its queue: ${answer.reason}`);
      return;
    }
    if ((await options.losesAnswer?.()) === true) return;
    const failed = new Set(answer.failures);
    await remove(messages.filter(({ MessageId = '' }) => !failed.has(MessageId)));
  };
  const receive = async (): Promise<readonly Message[]> => {
    const command = new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: options.batchSize,
      WaitTimeSeconds: WAIT_SECONDS,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    });
    const { Messages = [] } = await sqs.send(command, { abortSignal: aborter.signal });
    return Messages;
  };
  const poll = async () => {
    // One waiter only: the emulator wakes all of several for one message, and the losers come back empty.
    while (!stopped()) {
      await slots.take();
      try {
        const messages = await receive();
        if (messages.length > 0) {
          void handle(messages)
            .catch((error: unknown) => {
              options.onTrouble(`${pool.definition.name}: ${String(error)}`);
            })
            .finally(slots.giveBack);
          continue;
        }
      } catch (error) {
        if (!stopped()) {
          options.onTrouble(`receiving from ${queueUrl}: ${String(error)}`);
          await new Promise((done) => setTimeout(done, 1_000));
        }
      }
      slots.giveBack();
    }
  };
  const polling = poll();
  return {
    stop: async () => {
      aborter.abort();
      await slots.allFree();
      await polling;
    },
  };
};
