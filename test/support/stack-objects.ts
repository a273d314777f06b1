import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';

import { CREDENTIALS } from '../../local/clients.ts';
import { REGION } from '../../local/cloudformation/types/identity.ts';
import type { StackFile } from '../../local/stack-file.ts';

/** The bucket of long lists of a running stack, by a client of its own. */
export const openObjects = ({ sqs: endpoint, listBucket: Bucket }: StackFile) => {
  const s3 = new S3Client({ endpoint, region: REGION, credentials: CREDENTIALS, forcePathStyle: true });
  return {
    /** Keys of the objects of a dispatch. */
    keys: async (dispatchId: string): Promise<string[]> => {
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
      return Contents.flatMap(({ Key }) => Key ?? []).filter((key) => key.includes(`/${dispatchId}/`));
    },
    get: async (Key: string): Promise<Uint8Array> => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      return Body?.transformToByteArray() ?? new Uint8Array();
    },
    put: (Key: string, Body: Uint8Array) => s3.send(new PutObjectCommand({ Bucket, Key, Body })),
    remove: (Key: string) => s3.send(new DeleteObjectCommand({ Bucket, Key })),
    close: () => {
      s3.destroy();
    },
  };
};
