import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';

import type { TaskKey } from '../../application/ports/queues.ts';
import type { ExportStore } from '../../application/ports/tasks.ts';
import { CSV_BYTE_ORDER_MARK, CSV_HEADER, toCsvLine } from '../../contracts/csv/recipients-csv.ts';
import { exportFile } from './export-file.ts';

const partKey = ({ dispatchId, task }: TaskKey, part: string): string => `${dispatchId}/${task}/${part}.csv`;

/**
 * Exports in their bucket. Parts are objects of their own, of any size: those of an S3 multipart upload must have 5 MB
 * each, and less than that may be ready when a worker's time is over. All of 50,000 recipients is some 10 MB.
 */
export const createExportStore = (client: S3Client, Bucket: string): ExportStore => {
  const put = async (Key: string, Body: Uint8Array): Promise<void> => {
    await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentType: 'text/csv; charset=utf-8' }));
  };
  const get = async (Key: string): Promise<Uint8Array> => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    if (Body === undefined) throw new Error('a part of an export is empty');
    return Body.transformToByteArray();
  };

  return {
    putPart: (key, part, rows) => put(partKey(key, part), Buffer.from(rows.map(toCsvLine).join(''))),

    async finish(key, parts) {
      const content: Uint8Array[] = [Buffer.from(CSV_BYTE_ORDER_MARK + CSV_HEADER)];
      for (const part of parts) content.push(await get(partKey(key, part)));
      await put(exportFile(key), Buffer.concat(content));
    },
  };
};
