import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { HOST, reservePort } from '../../local/ports.ts';
import { redrive } from '../../local/redrive/redrive.ts';

const app = buildApp({ logger: false });
let sqs: SQSClient;
beforeAll(async () => {
  const port = await reservePort({ variable: 'none', port: 0 });
  await app.listen({ host: HOST, port });
  sqs = new SQSClient({
    endpoint: `http://${HOST}:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
});
afterAll(async () => {
  sqs.destroy();
  await app.close();
});

const createQueue = async (QueueName: string, Attributes: Record<string, string> = {}): Promise<string> => {
  const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
  return QueueUrl;
};
const receive = async (QueueUrl: string): Promise<Message[]> => {
  const command = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All'] });
  return (await sqs.send(command)).Messages ?? [];
};
const count = async (QueueUrl: string): Promise<number> => {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['ApproximateNumberOfMessages'] });
  return Number((await sqs.send(command)).Attributes?.['ApproximateNumberOfMessages']);
};

it('a redrive makes new messages with the old bodies and leaves none behind', async () => {
  const deadLetterQueueUrl = await createQueue('dead');
  const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:dead';
  const queueUrl = await createQueue('live', {
    VisibilityTimeout: '0',
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 }),
  });
  const bodies = [...Array.from({ length: 12 }, (_, n) => JSON.stringify({ dispatchId: 'd-1', n })), 'not JSON'];
  for (const MessageBody of bodies) await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody }));
  const before: Message[] = [];
  for (let looks = 0; (await count(deadLetterQueueUrl)) < bodies.length && looks < 20; looks += 1)
    before.push(...(await receive(queueUrl)));
  expect(await count(deadLetterQueueUrl)).toBe(bodies.length);

  const moved = await redrive({ sqs, deadLetterQueueUrl, queueUrl });

  expect({ moved, left: await count(deadLetterQueueUrl) }).toEqual({ moved: bodies.length, left: 0 });
  const after = [...(await receive(queueUrl)), ...(await receive(queueUrl))];
  expect(after.map(({ Body }) => Body).sort()).toEqual(bodies.toSorted());
  const oldIds = before.map(({ MessageId }) => MessageId);
  expect(after.filter(({ MessageId }) => oldIds.includes(MessageId))).toEqual([]);
  const newestBefore = Math.max(...before.map(({ Attributes }) => Number(Attributes?.['SentTimestamp'])));
  for (const { Attributes } of after) {
    expect(Number(Attributes?.['SentTimestamp'])).toBeGreaterThan(newestBefore);
    expect(Attributes?.['ApproximateReceiveCount']).toBe('1');
  }
});

it('a redrive of an empty queue moves nothing', async () => {
  const deadLetterQueueUrl = await createQueue('empty');
  const queueUrl = await createQueue('source');

  expect(await redrive({ sqs, deadLetterQueueUrl, queueUrl })).toBe(0);
});
