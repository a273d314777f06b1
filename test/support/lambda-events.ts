import type { Context, DynamoDBRecord, DynamoDBStreamEvent, SQSEvent, SQSRecord } from 'aws-lambda';

import { toAsciiJson } from '../../lambda/contracts/queue/queue-messages.ts';
import type { RecipientKey } from '../../lambda/domain/recipient/recipient.ts';
import { T0 } from './clock.ts';

/** The context of an invocation with so much time left. */
export const aContext = (remainingMs = 30_000): Context => {
  const context: Omit<Context, 'done' | 'fail' | 'succeed'> = {
    callbackWaitsForEmptyEventLoop: false,
    functionName: 'function',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:eu-west-1:123456789012:function:function',
    memoryLimitInMB: '512',
    awsRequestId: '0f6c1f52-9c3f-4c1e-8d0f-2f3f3a1f0b11',
    logGroupName: '/aws/lambda/function',
    logStreamName: '2026/03/02/[$LATEST]1',
    getRemainingTimeInMillis: () => remainingMs,
  };
  // The rest is for callbacks, which Node 24 no longer has.
  return context as Context;
};

/** A record as SQS hands it to Lambda. */
export const anSqsRecord = (n: number, body: string, attributes: Partial<SQSRecord['attributes']> = {}): SQSRecord => ({
  messageId: `sqs-${n}`,
  receiptHandle: `handle-${n}`,
  body,
  attributes: {
    ApproximateReceiveCount: '1',
    SentTimestamp: String(T0),
    SenderId: 'AROAEXAMPLE:relay',
    ApproximateFirstReceiveTimestamp: String(T0 + 5),
    ...attributes,
  },
  messageAttributes: {},
  md5OfBody: 'd41d8cd98f00b204e9800998ecf8427e',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:eu-west-1:123456789012:sends',
  awsRegion: 'eu-west-1',
});

export const anSqsEvent = (...bodies: string[]): SQSEvent => ({ Records: bodies.map((body, n) => anSqsRecord(n, body)) });

/** The body of a message of version 1. */
export const sendBody = (key: RecipientKey, id = 'm-1'): string =>
  toAsciiJson({ v: 1, id, ...key, enqueuedAt: '2026-03-02T09:00:00.000Z' });

export const taskBody = (batch: number): string => toAsciiJson({ v: 1, id: 't-1', kind: 'expand', dispatchId: 'd1', batch });

export const runTaskBody = (task: number): string => toAsciiJson({ v: 1, id: 't-2', kind: 'run', dispatchId: 'd1', task });

/** A record as the table's stream hands it to Lambda. */
export const aStreamRecord = (
  eventName: 'INSERT' | 'MODIFY' | 'REMOVE',
  sk: string,
  { pk = 'DISPATCH#d1#0', from, to, n = 1 }: { pk?: string; from?: string; to?: string; n?: number } = {},
): DynamoDBRecord => ({
  eventID: `event-${n}`,
  eventName,
  eventVersion: '1.1',
  eventSource: 'aws:dynamodb',
  awsRegion: 'eu-west-1',
  dynamodb: {
    ApproximateCreationDateTime: T0 / 1000,
    Keys: { pk: { S: pk }, sk: { S: sk } },
    ...(from !== undefined && { OldImage: { pk: { S: pk }, sk: { S: sk }, status: { S: from } } }),
    ...(to !== undefined && { NewImage: { pk: { S: pk }, sk: { S: sk }, status: { S: to } } }),
    SequenceNumber: `1000000000000000000${n}`,
    SizeBytes: 210,
    StreamViewType: 'NEW_AND_OLD_IMAGES',
  },
  eventSourceARN: 'arn:aws:dynamodb:eu-west-1:123456789012:table/mail/stream/2026-03-02T00:00:00.000',
});

export const aStreamEvent = (...Records: DynamoDBRecord[]): DynamoDBStreamEvent => ({ Records });
