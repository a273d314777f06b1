import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { readKeptRecords } from '../../../../local/repair/kept-records.ts';
import { replay, type Replayed } from '../../../../local/repair/replay.ts';

const s3 = mockClient(S3Client);
const sqs = mockClient(SQSClient);
const options = {
  s3: new S3Client({ region: 'us-east-1' }),
  sqs: new SQSClient({ region: 'us-east-1' }),
  bucket: 'failures',
  sendQueueUrl: 'https://sqs/sends',
  taskQueueUrl: 'https://sqs/tasks',
};

const record = (pk: string, sk: string, eventName = 'INSERT') => ({
  eventID: 'e',
  eventName,
  dynamodb: { SequenceNumber: '1', Keys: { pk: { S: pk }, sk: { S: sk } }, NewImage: { status: { S: 'PENDING' } } },
});
const RECIPIENT = record('DISPATCH#d-1#0', 'RECIPIENT#apply-1');
const BATCH = record('DISPATCH#d-1', 'BATCH#0002');
const UNKNOWN = record('DISPATCH#d-1', 'RECIPIENT#apply-1');
const givenUp = (...Records: object[]) => ({
  requestContext: { condition: 'RetryAttemptsExhausted' },
  DDBStreamBatchInfo: { shardId: 's' },
  payload: JSON.stringify({ Records }),
});

const keep = (objects: Readonly<Record<string, unknown>>) => {
  s3.on(ListObjectsV2Command).resolves({ Contents: Object.keys(objects).map((Key) => ({ Key })) });
  for (const [Key, content] of Object.entries(objects)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    const Body = { transformToString: () => Promise.resolve(text) };
    s3.on(GetObjectCommand, { Key }).resolves({ Body: Body as never });
  }
};
const run = async (): Promise<Replayed[]> => {
  const all: Replayed[] = [];
  for await (const replayed of replay(options)) all.push(replayed);
  return all;
};
const sent = () =>
  sqs.commandCalls(SendMessageBatchCommand).flatMap(({ args: [{ input }] }) =>
    (input.Entries ?? []).map(({ MessageBody = '', MessageGroupId }) => ({
      to: input.QueueUrl,
      group: MessageGroupId,
      ...(JSON.parse(MessageBody) as object),
    })),
  );
const deleted = () => s3.commandCalls(DeleteObjectCommand).map(({ args: [{ input }] }) => input.Key);

beforeEach(() => {
  s3.reset();
  sqs.reset();
  s3.on(DeleteObjectCommand).resolves({});
  sqs.on(SendMessageBatchCommand).resolves({});
});

describe('a replay', () => {
  it('relays what Lambda gave up and what the relay put aside, and deletes both', async () => {
    keep({ 'aws/lambda/given-up': givenUp(RECIPIENT, BATCH), 'relay-outbox/put-aside.json': RECIPIENT });

    expect(await run()).toEqual([
      { key: 'aws/lambda/given-up', outcome: 'relayed', records: 2 },
      { key: 'relay-outbox/put-aside.json', outcome: 'relayed', records: 1 },
    ]);
    expect(sent()).toMatchObject([
      { to: options.sendQueueUrl, group: 'd-1', dispatchId: 'd-1', shard: 0, applyId: 'apply-1' },
      { to: options.taskQueueUrl, kind: 'expand', dispatchId: 'd-1', batch: 2 },
      { to: options.sendQueueUrl, applyId: 'apply-1' },
    ]);
    expect(deleted()).toEqual(['aws/lambda/given-up', 'relay-outbox/put-aside.json']);
  });

  it('keeps an object with a record that is still not understood, and relays the others in it', async () => {
    keep({ a: givenUp(RECIPIENT, UNKNOWN) });

    expect(await run()).toEqual([{ key: 'a', outcome: 'kept', reason: '1 of its 2 records cannot be understood' }]);
    expect(sent()).toHaveLength(1);
    expect(deleted()).toEqual([]);
  });

  it.each([['no JSON'], [{ something: 'else' }]])('keeps an object that is no record of the stream: %j', async (content) => {
    keep({ a: content });

    expect(await run()).toEqual([{ key: 'a', outcome: 'kept', reason: 'it holds no records of the stream' }]);
    expect(deleted()).toEqual([]);
  });

  it('keeps an object whose message the queue did not take', async () => {
    sqs.on(SendMessageBatchCommand).rejects(new Error('not now'));
    keep({ a: RECIPIENT });

    expect(await run()).toEqual([{ key: 'a', outcome: 'kept', reason: 'its queue did not take every message' }]);
    expect(deleted()).toEqual([]);
  });

  it('deletes an object whose records need no message any more', async () => {
    keep({ a: record('DISPATCH#d-1#0', 'RECIPIENT#apply-1', 'REMOVE') });

    expect(await run()).toEqual([{ key: 'a', outcome: 'relayed', records: 1 }]);
    expect(sent()).toEqual([]);
  });
});

it('a batch that was given up is read whether its event is text or not', () => {
  expect(readKeptRecords(JSON.stringify({ ...givenUp(), payload: { Records: [RECIPIENT] } }))).toEqual([RECIPIENT]);
});
