import { randomUUID } from 'node:crypto';

import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';

import type { DiscardReason } from './stream-batch.ts';
import type { LambdaStreamRecord } from './stream-record.ts';

/** The records that were given up, and where they came from. */
export interface Discarded {
  readonly records: readonly LambdaStreamRecord[];
  readonly reason: DiscardReason;
  readonly attempts: number;
  readonly mapping: string;
  readonly functionArn: string;
  readonly streamArn: string;
  readonly shardId: string;
}

const pad = (value: number): string => String(value).padStart(2, '0');

/** Writes records that were given up as Lambda does: whole, one object for a batch. */
export const writeToFailureBucket = async (s3: S3Client, bucket: string, discarded: Discarded): Promise<void> => {
  const { records, reason, attempts, mapping, functionArn, streamArn, shardId } = discarded;
  const now = new Date();
  const day = [now.getUTCFullYear(), pad(now.getUTCMonth() + 1), pad(now.getUTCDate())];
  const time = [now.getUTCHours(), now.getUTCMinutes(), now.getUTCSeconds()].map(pad).join('.');
  const first = records[0];
  const last = records.at(-1);
  const body = {
    requestContext: { requestId: randomUUID(), functionArn, condition: reason, approximateInvokeCount: attempts },
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    version: '1.0',
    timestamp: now.toISOString(),
    DDBStreamBatchInfo: {
      shardId,
      startSequenceNumber: first?.sequenceNumber,
      endSequenceNumber: last?.sequenceNumber,
      approximateArrivalOfFirstRecord: first && new Date(first.createdAt).toISOString(),
      approximateArrivalOfLastRecord: last && new Date(last.createdAt).toISOString(),
      batchSize: records.length,
      streamArn,
    },
    payload: JSON.stringify({ Records: records.map(({ event }) => event) }),
  };
  await s3.send(
    new PutObjectCommand({
      Bucket: bucket,
      Key: `aws/lambda/${mapping}/${shardId}/${day.join('/')}/${day.join('-')}T${time}-${randomUUID()}`,
      Body: JSON.stringify(body),
      ContentType: 'application/json',
    }),
  );
};
