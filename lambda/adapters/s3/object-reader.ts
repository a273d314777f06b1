import { createHash } from 'node:crypto';

import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';

import { Unavailable } from '../../application/ports/errors.ts';
import type { ObjectReader } from '../../application/ports/objects.ts';
import { parseObjectKey } from '../../contracts/queue/object-key.ts';
import { isMissing } from './s3-failure.ts';

const RETRY_AFTER_SECONDS = 5;

/** Reads what accept stored as objects. */
export const createObjectReader = (client: S3Client, Bucket: string): ObjectReader => ({
  async read(Key) {
    let bytes: Uint8Array;
    try {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      if (Body === undefined) throw new Error('an answer of S3 has no body');
      bytes = await Body.transformToByteArray();
    } catch (error) {
      if (isMissing(error)) return 'missing';
      throw new Unavailable('the store of lists', RETRY_AFTER_SECONDS, error);
    }
    const checksum = createHash('sha256').update(bytes).digest('hex');
    return checksum === parseObjectKey(Key)?.checksum ? bytes : 'altered';
  },
});
