import { DeleteObjectCommand, type S3Client } from '@aws-sdk/client-s3';

import type { ObjectRemover } from '../../application/ports/objects.ts';

/** Deletes objects; in a versioned bucket they can be brought back for a while. */
export const createObjectRemover = (client: S3Client, Bucket: string): ObjectRemover => ({
  async remove(Key) {
    await client.send(new DeleteObjectCommand({ Bucket, Key }));
  },
});
