import { DeleteObjectCommand, paginateListObjectsV2 } from '@aws-sdk/client-s3';

import type { Clients } from '../clients.ts';
import type { Model } from '../cloudformation/model.ts';

const DAY_MS = 24 * 3_600_000;

/** Does at the start of the stack what S3 does once a day: deletes objects that a rule of their bucket lets expire. */
export const expireObjects = async (
  { s3 }: Clients,
  { name, properties }: Model['buckets'][number],
  now: number,
): Promise<void> => {
  const days = properties.LifecycleConfiguration.Rules.flatMap(({ ExpirationInDays }) => ExpirationInDays ?? []);
  if (days.length === 0) return;
  const before = now - Math.min(...days) * DAY_MS;
  for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket: name })) {
    for (const { Key, LastModified } of Contents) {
      if (LastModified !== undefined && LastModified.getTime() <= before)
        await s3.send(new DeleteObjectCommand({ Bucket: name, Key }));
    }
  }
};
