import type { _Record as StreamRecord } from '@aws-sdk/client-dynamodb-streams';

import { REGION } from '../../cloudformation/types/identity.ts';
import type { Sequenced } from './stream-batch.ts';

/** A record as a function sees it, with what the batch rules need. */
export interface LambdaStreamRecord extends Sequenced {
  readonly event: Readonly<Record<string, unknown>>;
}

/** Binary values reach a function as base64 text. */
const toJsonValue = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(toJsonValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, element]) => [key, toJsonValue(element)]));
};

/** Turns a record of the stream into the event a function gets. */
export const toLambdaRecord = (record: StreamRecord, streamArn: string): LambdaStreamRecord => {
  const { Keys, NewImage, OldImage, SequenceNumber = '', SizeBytes, StreamViewType } = record.dynamodb ?? {};
  const createdAt = record.dynamodb?.ApproximateCreationDateTime?.getTime() ?? Date.now();
  return {
    sequenceNumber: SequenceNumber,
    createdAt,
    event: {
      eventID: record.eventID,
      eventName: record.eventName,
      eventVersion: record.eventVersion ?? '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: REGION,
      eventSourceARN: streamArn,
      dynamodb: {
        ApproximateCreationDateTime: Math.floor(createdAt / 1000),
        Keys: toJsonValue(Keys),
        ...(NewImage && { NewImage: toJsonValue(NewImage) }),
        ...(OldImage && { OldImage: toJsonValue(OldImage) }),
        SequenceNumber,
        SizeBytes,
        StreamViewType,
      },
      ...(record.userIdentity && {
        userIdentity: { type: record.userIdentity.Type, principalId: record.userIdentity.PrincipalId },
      }),
    },
  };
};
