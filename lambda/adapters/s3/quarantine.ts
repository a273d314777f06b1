import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';

/** Puts stream records that cannot be handled into the bucket, whole, one object each. */
export const createQuarantine =
  (client: S3Client, bucket: string, newId: () => string, clock: () => number) =>
  async (record: unknown): Promise<void> => {
    await client.send(
      new PutObjectCommand({
        Bucket: bucket,
        Key: `relay-outbox/${new Date(clock()).toISOString()}-${newId()}.json`,
        Body: JSON.stringify(record),
        ContentType: 'application/json',
      }),
    );
  };
