import { createHash } from 'node:crypto';

import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';

import { Unavailable } from '../../application/accept-ports.ts';
import type { ObjectWriter } from '../../application/list-ports.ts';
import type { Clock, NewId, Random, Sleep } from '../../application/ports.ts';
import { toObjectKey } from '../../contracts/object-key.ts';
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
const RETRY_MS = 100;
const LONGEST_RETRY_MS = 800;
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
        for (let tries = 1; ; tries += 1) {
          try {
            await deps.client.send(new PutObjectCommand(command));
            return key;
          } catch (error) {
            if (!isTransientOfS3(error)) throw error;
            giveUpAt ??= deps.clock() + RETRIES_LAST_MS;
            const wait = Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** (tries - 1)) * (0.5 + deps.random() / 2);
            if (deps.clock() + wait > giveUpAt) throw new Unavailable('the store of lists', RETRY_AFTER_SECONDS, error);
            await deps.sleep(wait);
          }
        }
      },
    };
  },
});
