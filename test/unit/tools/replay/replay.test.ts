import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';

import { countRecords } from '../../../../tools/replay/count-records.ts';
import { readKeptRecords } from '../../../../tools/replay/kept-records.ts';
import { relayRecords } from '../../../../tools/replay/relay-records.ts';
import { replay, type Replayed } from '../../../../tools/replay/replay.ts';

const s3 = mockClient(S3Client);
const sqs = mockClient(SQSClient);
const table = mockClient(DynamoDBDocumentClient);
const bus = mockClient(EventBridgeClient);
const at = { region: 'us-east-1' };
const queues = { sendQueueUrl: 'https://sqs/sends', taskQueueUrl: 'https://sqs/tasks' };
const options = {
  s3: new S3Client(at),
  bucket: 'failures',
  giveBack: {
    relay: relayRecords({ sqs: new SQSClient(at), ...queues }),
    progress: countRecords({
      table: DynamoDBDocumentClient.from(new DynamoDBClient(at)),
      tableName: 'dispatches',
      bus: new EventBridgeClient(at),
      busName: 'news',
    }),
  },
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

// Other files talk to a bus over the wire.
afterAll(() => {
  bus.restore();
});
beforeEach(() => {
  for (const mock of [s3, sqs, table, bus]) mock.reset();
  s3.on(DeleteObjectCommand).resolves({});
  sqs.on(SendMessageBatchCommand).resolves({});
});

describe('a replay', () => {
  it('relays what Lambda gave up and what the relay put aside, and deletes both', async () => {
    keep({ 'aws/lambda/given-up': givenUp(RECIPIENT, BATCH), 'relay-outbox/put-aside.json': RECIPIENT });

    expect(await run()).toEqual([
      { key: 'aws/lambda/given-up', outcome: 'handled', by: 'relay', records: 2 },
      { key: 'relay-outbox/put-aside.json', outcome: 'handled', by: 'relay', records: 1 },
    ]);
    expect(sent()).toMatchObject([
      { to: queues.sendQueueUrl, group: 'd-1', dispatchId: 'd-1', shard: 0, applyId: 'apply-1' },
      { to: queues.taskQueueUrl, kind: 'expand', dispatchId: 'd-1', batch: 2 },
      { to: queues.sendQueueUrl, applyId: 'apply-1' },
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

    expect(await run()).toEqual([{ key: 'a', outcome: 'handled', by: 'relay', records: 1 }]);
    expect(sent()).toEqual([]);
  });
});

describe('a replay of what progress could not count', () => {
  const SENT = {
    ...record('DISPATCH#d-1#0', 'RECIPIENT#apply-1', 'MODIFY'),
    dynamodb: {
      SequenceNumber: '1',
      ApproximateCreationDateTime: 1_772_442_000,
      Keys: { pk: { S: 'DISPATCH#d-1#0' }, sk: { S: 'RECIPIENT#apply-1' } },
      OldImage: { status: { S: 'PROCESSING' } },
      NewImage: { status: { S: 'SENT' } },
    },
  };
  const dispatchImage = (status: string) => ({
    dispatchId: { S: 'd-1' },
    status: { S: status },
    total: { N: '1' },
    generation: { N: '0' },
  });
  const COMPLETED = {
    ...SENT,
    dynamodb: {
      ...SENT.dynamodb,
      Keys: { pk: { S: 'DISPATCH#d-1' }, sk: { S: 'DISPATCH' } },
      OldImage: dispatchImage('IN_PROGRESS'),
      NewImage: dispatchImage('COMPLETED'),
    },
  };
  const ofProgress = (...Records: object[]) => ({
    ...givenUp(...Records),
    requestContext: {
      condition: 'RetryAttemptsExhausted',
      functionArn: 'arn:aws:lambda:eu-west-1:1:function:mail-dispatch-prod-FollowProgressFunction0A1B-x9',
    },
  });

  it('counts it and tells what is news, and sends no message', async () => {
    table.on(UpdateCommand).resolves({});
    bus.on(PutEventsCommand).resolves({ Entries: [{ EventId: 'e' }] });
    keep({ a: ofProgress(SENT, COMPLETED) });

    expect(await run()).toEqual([{ key: 'a', outcome: 'handled', by: 'progress', records: 2 }]);
    expect(table.commandCalls(UpdateCommand)[0]?.args[0].input).toMatchObject({
      TableName: 'dispatches',
      Key: { pk: 'DISPATCH#d-1', sk: 'DISPATCH' },
      ExpressionAttributeValues: { ':PROCESSING': -1, ':SENT': 1 },
    });
    const [entry] = bus.commandCalls(PutEventsCommand)[0]?.args[0].input.Entries ?? [];
    expect(entry).toMatchObject({ EventBusName: 'news', DetailType: 'Dispatch Completed' });
    expect(JSON.parse(entry?.Detail ?? '')).toMatchObject({ id: 'd-1-0-completed' });
    expect(sent()).toEqual([]);
  });

  it('keeps it while the bus takes no events', async () => {
    bus.on(PutEventsCommand).rejects(new Error('not now'));
    keep({ a: ofProgress(COMPLETED) });

    expect(await run()).toEqual([{ key: 'a', outcome: 'kept', reason: 'not all of it could be counted and told' }]);
    expect(deleted()).toEqual([]);
  });

  it('counts nothing of an object that is kept, as it would be counted each time', async () => {
    keep({ a: ofProgress(SENT, { eventName: 'MODIFY' }) });

    expect(await run()).toEqual([{ key: 'a', outcome: 'kept', reason: '1 of its 2 records cannot be understood' }]);
    expect(table.commandCalls(UpdateCommand)).toEqual([]);
  });
});

it('a batch that was given up is read whether its event is text or not', () => {
  expect(readKeptRecords(JSON.stringify({ ...givenUp(), payload: { Records: [RECIPIENT] } }))).toEqual({
    follower: 'relay',
    records: [RECIPIENT],
  });
});

it.each([
  ['arn:aws:lambda:us-east-1:000000000000:function:follow-progress-function', 'progress'],
  ['arn:aws:lambda:eu-west-1:1:function:mail-dispatch-prod-RelayOutboxFunction0A1B-x9', 'relay'],
])('what %s could not handle is for %s', (functionArn, follower) => {
  const content = JSON.stringify({ ...givenUp(RECIPIENT), requestContext: { functionArn } });
  expect(readKeptRecords(content)?.follower).toBe(follower);
});
