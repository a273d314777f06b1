import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';

import { type Follower, readKeptRecords } from './kept-records.ts';

/** Handles records as the function would that could not. @returns why they must be kept; undefined if all are handled */
export type GiveBack = (records: readonly unknown[]) => Promise<string | undefined>;

/** Where records were put that could not be handled, and who handles them now. */
export interface ReplayOptions {
  readonly s3: S3Client;
  readonly bucket: string;
  readonly giveBack: Readonly<Record<Follower, GiveBack>>;
}

/** What became of one object: gone with all its records handled, or kept, and why. */
export type Replayed =
  | { readonly key: string; readonly outcome: 'handled'; readonly by: Follower; readonly records: number }
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

const replayOne = async ({ s3, bucket, giveBack }: ReplayOptions, key: string): Promise<Replayed> => {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
  const kept = readKeptRecords((await Body?.transformToString()) ?? '');
  if (kept === undefined) return { key, outcome: 'kept', reason: 'it holds no records of the stream' };
  const reason = await giveBack[kept.follower](kept.records);
  if (reason !== undefined) return { key, outcome: 'kept', reason };
  await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
  return { key, outcome: 'handled', by: kept.follower, records: kept.records.length };
};

/** Gives records back to whom they came from. An object is deleted once every record in it is handled. */
export async function* replay(options: ReplayOptions): AsyncGenerator<Replayed> {
  for await (const key of listKeys(options)) yield await replayOne(options, key);
}
