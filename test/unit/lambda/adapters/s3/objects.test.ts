import { createHash } from 'node:crypto';

import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createObjectInventory } from '../../../../../lambda/adapters/s3/object-inventory.ts';
import { createObjectReader } from '../../../../../lambda/adapters/s3/object-reader.ts';
import { createObjectWriter } from '../../../../../lambda/adapters/s3/object-writer.ts';
import { Unavailable } from '../../../../../lambda/application/ports/errors.ts';
import { parseObjectKey } from '../../../../../lambda/contracts/queue/object-key.ts';
import { createFakeClock, type FakeClock, T0 } from '../../../../support/clock.ts';
import { sdkError } from '../../../../support/dynamo.ts';

const s3 = mockClient(S3Client);
const client = new S3Client({ region: 'eu-west-1' });
let clock: FakeClock;

beforeEach(() => {
  s3.reset();
  clock = createFakeClock();
});

const writer = () => {
  let ids = 0;
  return createObjectWriter({
    client,
    bucket: 'lists',
    tableId: 'table-1',
    clock: clock.now,
    random: () => 1,
    sleep: clock.sleep,
    newId: () => `try-${(ids += 1)}`,
  });
};
const body = new TextEncoder().encode('many recipients');
const checksum = createHash('sha256').update(body).digest('hex');
const puts = () => s3.commandCalls(PutObjectCommand).map(({ args }) => args[0].input);

describe('an object of a dispatch', () => {
  it('is stored under the table, the dispatch, the try, its name and its checksum, which S3 checks too', async () => {
    s3.on(PutObjectCommand).resolves({});

    expect(await writer().begin('d1').put('12', body)).toBe(`table-1/d1/try-1/12-${checksum}`);
    expect(puts()).toEqual([
      {
        Bucket: 'lists',
        Key: `table-1/d1/try-1/12-${checksum}`,
        Body: body,
        ChecksumSHA256: Buffer.from(checksum, 'hex').toString('base64'),
      },
    ]);
  });

  it('is never stored under a key of another try', async () => {
    s3.on(PutObjectCommand).resolves({});
    const objects = writer();

    const keys = [await objects.begin('d1').put('0', body), await objects.begin('d1').put('0', body)];

    expect(new Set(keys.map((key) => parseObjectKey(key)?.tryId)).size).toBe(2);
  });

  it.each([
    ['no answer', sdkError('TimeoutError')],
    ['a fault of S3', sdkError('InternalError', 500)],
    ['throttling', sdkError('SlowDown', 503)],
    ['a body that came too slowly', sdkError('RequestTimeout', 400)],
  ])('is stored again after %s', async (_name, error) => {
    s3.on(PutObjectCommand).rejectsOnce(error).resolves({});

    await writer().begin('d1').put('0', body);

    expect(puts()).toHaveLength(2);
  });

  it('asks for patience after 3 s of trouble, shared by all objects of the try', async () => {
    s3.on(PutObjectCommand).rejects(sdkError('SlowDown', 503));
    const objects = writer().begin('d1');

    await expect(objects.put('0', body)).rejects.toBeInstanceOf(Unavailable);
    expect(clock.now() - T0).toBeLessThanOrEqual(3_000);
    expect(clock.now() - T0).toBeGreaterThan(2_000);
    const before = clock.now();
    await expect(objects.put('1', body)).rejects.toMatchObject({ retryAfterSeconds: 5 });
    expect(clock.now() - before).toBeLessThan(1_000);
  });

  it('is not stored again when no repetition can help', async () => {
    s3.on(PutObjectCommand).rejects(sdkError('AccessDenied', 403));

    await expect(writer().begin('d1').put('0', body)).rejects.toThrow('AccessDenied');
    expect(puts()).toHaveLength(1);
  });
});

describe('reading an object', () => {
  const key = `table-1/d1/try-1/0-${checksum}`;
  const read = () => createObjectReader(client, 'lists').read(key);
  const holds = (bytes: Uint8Array) =>
    s3.on(GetObjectCommand).callsFake(() => ({ Body: { transformToByteArray: () => Promise.resolve(bytes) } }));

  it('gives its bytes if they have the checksum of its key', async () => {
    holds(body);

    expect(await read()).toEqual(body);
  });

  it('tells other bytes', async () => {
    holds(new TextEncoder().encode('others'));

    expect(await read()).toBe('altered');
  });

  it('tells an object that is missing', async () => {
    s3.on(GetObjectCommand).rejects(sdkError('NoSuchKey', 404));

    expect(await read()).toBe('missing');
  });

  it.each([
    ['S3 does not answer', sdkError('TimeoutError')],
    ['a right is missing', sdkError('AccessDenied', 403)],
    ['the bucket is missing', sdkError('NoSuchBucket', 404)],
  ])('says nothing about the object when %s', async (_name, error) => {
    s3.on(GetObjectCommand).rejects(error);

    await expect(read()).rejects.toBeInstanceOf(Unavailable);
  });

  it('says nothing about the object when its answer breaks off', async () => {
    const transformToByteArray = () => Promise.reject(new Error('aborted'));
    s3.on(GetObjectCommand).callsFake(() => ({ Body: { transformToByteArray } }));

    await expect(read()).rejects.toBeInstanceOf(Unavailable);
  });
});

describe('the inventory', () => {
  it('lists the objects of its own table page by page, with their age', async () => {
    const LastModified = new Date(T0);
    s3.on(ListObjectsV2Command).resolvesOnce({
      Contents: [
        { Key: 'a', LastModified },
        { Key: 'b', LastModified },
      ],
      IsTruncated: true,
    });
    s3.on(ListObjectsV2Command, { StartAfter: 'b' }).resolves({ Contents: [{ Key: 'c', LastModified }], IsTruncated: false });
    const inventory = createObjectInventory(client, 'lists', 'table-1');

    expect(await inventory.page(undefined)).toEqual({
      objects: [
        { key: 'a', storedAt: T0 },
        { key: 'b', storedAt: T0 },
      ],
      next: 'b',
    });
    expect(await inventory.page('b')).toEqual({ objects: [{ key: 'c', storedAt: T0 }] });
    expect(s3.commandCalls(ListObjectsV2Command).map(({ args }) => args[0].input.Prefix)).toEqual(['table-1/', 'table-1/']);
  });

  it('deletes one object', async () => {
    s3.on(DeleteObjectCommand).resolves({});

    await createObjectInventory(client, 'lists', 'table-1').remove('table-1/x');

    expect(s3.commandCalls(DeleteObjectCommand)[0]?.args[0].input).toEqual({ Bucket: 'lists', Key: 'table-1/x' });
  });
});
