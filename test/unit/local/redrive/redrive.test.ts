import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { redrive } from '../../../../local/redrive/redrive.ts';

const sqs = mockClient(SQSClient);
const options = {
  sqs: new SQSClient({ region: 'us-east-1' }),
  deadLetterQueueUrl: 'https://sqs/dead',
  queueUrl: 'https://sqs/live',
};

const dead = (waiting: number, ...bodies: string[]) => {
  sqs.on(GetQueueAttributesCommand).resolves({ Attributes: { ApproximateNumberOfMessages: String(waiting) } });
  // One more answer than there are messages: more arrive all the time.
  sqs.on(ReceiveMessageCommand).resolves({ Messages: bodies.map((Body, i) => ({ Body, ReceiptHandle: `r-${i}` })) });
};
const sent = () => sqs.commandCalls(SendMessageCommand).map(({ args: [{ input }] }) => input);

beforeEach(() => {
  sqs.reset();
  sqs.on(SendMessageCommand).resolves({});
  sqs.on(DeleteMessageCommand).resolves({});
});

describe('a redrive', () => {
  it('puts a message back into the group of its dispatch, and one that it cannot read into none', async () => {
    const ours = JSON.stringify({ dispatchId: 'd-1', applyId: 'apply-1' });
    dead(2, ours, 'not JSON');

    await redrive(options);

    expect(sent()).toEqual([
      { QueueUrl: 'https://sqs/live', MessageBody: ours, MessageGroupId: 'd-1' },
      { QueueUrl: 'https://sqs/live', MessageBody: 'not JSON' },
    ]);
  });

  it('moves no more than were there when it began', async () => {
    dead(3, '{}');

    expect(await redrive(options)).toBe(3);
  });

  it('leaves a message where it is when it cannot be sent', async () => {
    dead(1, '{}');
    sqs.on(SendMessageCommand).rejects(new Error('not now'));

    await expect(redrive(options)).rejects.toThrow('not now');
    expect(sqs.commandCalls(DeleteMessageCommand)).toEqual([]);
  });
});
