import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import type { SQSClient } from '@aws-sdk/client-sqs';

import { createSendQueue } from '../../lambda/adapters/sqs/send-queue.ts';
import { createTaskQueue } from '../../lambda/adapters/sqs/task-queue.ts';
import { relayOutbox } from '../../lambda/application/relay-outbox.ts';
import { interpret } from '../../lambda/handlers/relay-outbox/handler.ts';
import { readKeptRecords } from './kept-records.ts';

/** Where records were put that could not be relayed, and where their messages go. */
export interface ReplayOptions {
  readonly s3: S3Client;
  readonly sqs: SQSClient;
  readonly bucket: string;
  readonly sendQueueUrl: string;
  readonly taskQueueUrl: string;
}

/** What became of one object: gone with all its records relayed, or kept, and why. */
export type Replayed =
  | { readonly key: string; readonly outcome: 'relayed'; readonly records: number }
  | { readonly key: string; readonly outcome: 'kept'; readonly reason: string };

async function* listKeys({ s3, bucket }: ReplayOptions): AsyncGenerator<string> {
  let token: string | undefined;
  do {
    const page = await s3.send(
      new ListObjectsV2Command({ Bucket: bucket, ...(token !== undefined && { ContinuationToken: token }) }),
    );
    for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key;
    token = page.NextContinuationToken;
  } while (token !== undefined);
}

/** Relays the records of one object the way the relay itself does. @returns why it cannot go yet; undefined if all is relayed */
const relay = async ({ sqs, sendQueueUrl, taskQueueUrl }: ReplayOptions, records: readonly unknown[]) => {
  const deps = { client: sqs, newId: randomUUID, clock: Date.now, sleep };
  let unknown = 0;
  const open = await relayOutbox(
    {
      sendQueue: createSendQueue({ ...deps, queueUrl: sendQueueUrl }),
      taskQueue: createTaskQueue({ ...deps, queueUrl: taskQueueUrl }),
      keepPoison: () => {
        unknown += 1;
        return Promise.resolve();
      },
    },
    records.map((record) => interpret(record)),
  );
  if (unknown > 0) return `${unknown} of its ${records.length} records cannot be understood`;
  return open === undefined ? undefined : 'its queue did not take every message';
};

/**
 * Sends the messages of records that could not be relayed. An object is deleted once every record in it is handled; a message
 * that was sent before does no harm.
 */
export async function* replay(options: ReplayOptions): AsyncGenerator<Replayed> {
  const { s3, bucket } = options;
  for await (const key of listKeys(options)) {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    const records = readKeptRecords((await Body?.transformToString()) ?? '');
    const reason = records ? await relay(options, records) : 'it holds no records of the stream';
    if (reason === undefined) await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
    yield reason === undefined ? { key, outcome: 'relayed', records: records?.length ?? 0 } : { key, outcome: 'kept', reason };
  }
}
