import { createHash } from 'node:crypto';

import { PutObjectCommand, type PutObjectCommandInput, type S3Client } from '@aws-sdk/client-s3';

import { Unavailable } from '../../application/ports/errors.ts';
import type { ObjectWriter } from '../../application/ports/objects.ts';
import type { Clock, NewId, Random, Sleep } from '../../application/ports/system.ts';
import { toObjectKey } from '../../contracts/queue/object-key.ts';
import { retry, type Tried } from '../../domain/shared/retry.ts';
import { isTransientOfS3 } from './s3-failure.ts';

export interface ObjectWriterDeps {
  /** Makes one try a call; the tries are counted here. */
  readonly client: S3Client;
  readonly bucket: string;
  /** First part of every key. */
  readonly tableId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly sleep: Sleep;
  readonly newId: NewId;
}

/** How long S3's trouble is waited out before the client is told to ask again. */
const RETRIES_LAST_MS = 3_000;
const RETRIES = { baseMs: 100, capMs: 800 };
const RETRY_AFTER_SECONDS = 5;

/** Stores the objects of dispatches that are being accepted. */
export const createObjectWriter = (deps: ObjectWriterDeps): ObjectWriter => ({
  begin(dispatchId) {
    const tryId = deps.newId();
    // Shared by all objects of the try: its time is limited, however many there are.
    let giveUpAt: number | undefined;

    return {
      async put(name, body) {
        const hash = createHash('sha256').update(body).digest();
        const key = toObjectKey({ tableId: deps.tableId, dispatchId, tryId, name, checksum: hash.toString('hex') });
        const command = { Bucket: deps.bucket, Key: key, Body: body, ChecksumSHA256: hash.toString('base64') };
        const put = await retry(deps, { ...RETRIES, giveUpAt: () => (giveUpAt ??= deps.clock() + RETRIES_LAST_MS) }, () =>
          tryToPut(deps.client, command),
        );
        if (!put.done) throw new Unavailable('the store of lists', RETRY_AFTER_SECONDS, put.failure);
        return key;
      },
    };
  },
});

/** Throws what no repetition corrects. */
const tryToPut = async (client: S3Client, command: PutObjectCommandInput): Promise<Tried<void, unknown>> => {
  try {
    await client.send(new PutObjectCommand(command));
    return { done: true, result: undefined };
  } catch (failure) {
    if (!isTransientOfS3(failure)) throw failure;
    return { done: false, failure };
  }
};
