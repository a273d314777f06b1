import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createExportAddress } from '../../../../../lambda/adapters/s3/export-address.ts';
import { createExportStore } from '../../../../../lambda/adapters/s3/export-store.ts';
import { CSV_HEADER } from '../../../../../lambda/contracts/csv/recipients-csv.ts';
import { aRecipient, sent } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

const s3 = mockClient(S3Client);
const client = () =>
  new S3Client({ region: 'eu-west-1', forcePathStyle: true, credentials: { accessKeyId: 'a', secretAccessKey: 's' } });
const KEY = { dispatchId: 'd1', task: 3 };
const objects = new Map<string, Buffer>();

beforeEach(() => {
  s3.reset();
  objects.clear();
  s3.on(PutObjectCommand).callsFake(({ Key, Body }: { Key: string; Body: Uint8Array }) => {
    objects.set(Key, Buffer.from(Body));
    return {};
  });
  s3.on(GetObjectCommand).callsFake(({ Key }: { Key: string }) => ({
    Body: { transformToByteArray: () => Promise.resolve(new Uint8Array(objects.get(Key) ?? [])) },
  }));
});

describe('the file of an export', () => {
  it('is its parts in order, after a byte order mark and the names of the columns', async () => {
    const store = createExportStore(client(), 'exports');
    await store.putPart(KEY, 'p-2', [aRecipient(sent(), { applyId: '박' })]);
    await store.putPart(KEY, 'p-1', [aRecipient(sent(), { applyId: '김' }), aRecipient(sent(), { applyId: '이' })]);
    await store.finish(KEY, ['p-1', 'p-2']);

    const file = objects.get('d1/3.csv');
    expect([...(file?.subarray(0, 3) ?? [])]).toEqual([0xef, 0xbb, 0xbf]);
    const lines = file?.toString('utf8').split('\r\n') ?? [];
    expect(lines[0]).toBe(`\uFEFF${CSV_HEADER.trimEnd()}`);
    expect(lines.slice(1).map((line) => line.split(',')[0])).toEqual(['"김"', '"이"', '"박"', '']);
  });

  it('of nobody has the names of the columns alone', async () => {
    await createExportStore(client(), 'exports').finish(KEY, []);

    expect(objects.get('d1/3.csv')?.toString('utf8')).toBe(`\uFEFF${CSV_HEADER}`);
  });
});

describe('the address of a file', () => {
  it('is signed for five minutes, and offers the file under a name of its own', async () => {
    const { url, until } = await createExportAddress(client(), 'exports', () => T0)(KEY);

    const { pathname, searchParams } = new URL(url);
    expect(pathname).toBe('/exports/d1/3.csv');
    expect(searchParams.get('X-Amz-Expires')).toBe('300');
    expect(searchParams.get('response-content-disposition')).toBe('attachment; filename="recipients-d1-3.csv"');
    expect(until).toBe(T0 + 300_000);
  });
});
