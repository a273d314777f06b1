import { ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';

import type { ObjectInventory } from '../../application/ports/objects.ts';
import { createObjectRemover } from './object-remover.ts';

/** S3's limit for one page. */
const KEYS_PER_PAGE = 1_000;

/** The objects of one table, and no other's: a restored table has another id. */
export const createObjectInventory = (client: S3Client, Bucket: string, tableId: string): ObjectInventory => ({
  ...createObjectRemover(client, Bucket),

  async page(after) {
    const { Contents = [], IsTruncated } = await client.send(
      new ListObjectsV2Command({
        Bucket,
        Prefix: `${tableId}/`,
        MaxKeys: KEYS_PER_PAGE,
        ...(after !== undefined && { StartAfter: after }),
      }),
    );
    const objects = Contents.flatMap(({ Key, LastModified }) =>
      Key === undefined || LastModified === undefined ? [] : [{ key: Key, storedAt: LastModified.getTime() }],
    );
    const last = Contents.at(-1)?.Key;
    return { objects, ...(IsTruncated === true && last !== undefined && { next: last }) };
  },
});
