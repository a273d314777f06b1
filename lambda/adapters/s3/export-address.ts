import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

import type { Clock } from '../../application/ports/system.ts';
import type { ExportRepository } from '../../application/ports/tasks.ts';
import { exportFile } from './export-file.ts';

/** Whoever has the address has the file, so it is good for one download at once. */
const GOOD_FOR_SECONDS = 300;

/** Signs where the file of an export can be fetched. */
export const createExportAddress =
  (client: S3Client, Bucket: string, clock: Clock): ExportRepository['address'] =>
  async (key) => {
    const until = clock() + GOOD_FOR_SECONDS * 1000;
    const command = new GetObjectCommand({
      Bucket,
      Key: exportFile(key),
      ResponseContentType: 'text/csv; charset=utf-8',
      ResponseContentDisposition: `attachment; filename="recipients-${key.dispatchId.slice(0, 8)}-${key.task}.csv"`,
    });
    return { url: await getSignedUrl(client, command, { expiresIn: GOOD_FOR_SECONDS }), until };
  };
