import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

import { createAcceptRepository } from '../../lambda/adapters/dynamo/dispatch/accept-repository.ts';
import { createBatchRepository } from '../../lambda/adapters/dynamo/dispatch/batch-repository.ts';
import { createOrphanRepository } from '../../lambda/adapters/dynamo/task/orphan-repository.ts';
import { createObjectInventory } from '../../lambda/adapters/s3/object-inventory.ts';
import { createObjectReader } from '../../lambda/adapters/s3/object-reader.ts';
import { createObjectWriter } from '../../lambda/adapters/s3/object-writer.ts';
import type { ObjectWriter } from '../../lambda/application/ports/objects.ts';
import { createDeleteOrphans, type OrphanReport } from '../../lambda/application/sweep/delete-orphans.ts';
import { createExpandBatch } from '../../lambda/application/tasks/expand-batch.ts';
import { startQueues } from '../../local/emulators/queues.ts';
import { openRecordedOutput } from '../../local/recorded-output.ts';
import { readSettings } from '../../local/settings.ts';

const BUCKET = 'lists';
const TABLE_ID = 'table-1';

/** What accept, expansion and sweeper do with lists, on a real table and the emulated S3. */
export const startListWorld = async (table: { readonly client: DynamoDBDocumentClient; readonly tableName: string }) => {
  const directory = mkdtempSync(join(tmpdir(), 'mail-dispatch-lists-'));
  const settings = readSettings({ LOCAL_DIR: directory, LOCAL_SQS_PORT: '0' });
  const server = await startQueues(settings, openRecordedOutput(settings));
  const s3 = new S3Client({
    endpoint: server.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET }));
  const { client, tableName } = table;
  const common = { clock: Date.now, random: Math.random, sleep, newId: randomUUID };
  const writer = createObjectWriter({ client: s3, bucket: BUCKET, tableId: TABLE_ID, ...common });
  const inventory = createObjectInventory(s3, BUCKET, TABLE_ID);
  const reader = createObjectReader(s3, BUCKET);
  const batches = createBatchRepository({ client, tableName, objects: { ...reader, ...inventory }, ...common });
  const expandBatch = createExpandBatch(batches, Date.now);

  return {
    s3,
    bucket: BUCKET,
    writer,
    batches,
    /** @param through another client of the table, such as one behind a proxy */
    accept: (objects: ObjectWriter = writer, through = client) =>
      createAcceptRepository({ client: through, tableName, objects, ...common }),
    expand: (dispatchId: string, batch: number) => expandBatch({ dispatchId, batch }, () => true),
    keys: async () => (await inventory.page(undefined)).objects.map(({ key }) => key),
    /** Runs the sweeper's search at that time. */
    deleteOrphans: async (now: number): Promise<OrphanReport | undefined> => {
      const reports: OrphanReport[] = [];
      const orphans = createOrphanRepository(client, tableName);
      await createDeleteOrphans({ inventory, orphans, clock: () => now, observe: (report) => reports.push(report) })(
        () => 60_000,
      );
      return reports[0];
    },
    stop: async () => {
      s3.destroy();
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

export type ListWorld = Awaited<ReturnType<typeof startListWorld>>;
