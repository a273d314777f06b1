import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, it } from 'vitest';

import { createQuarantine } from '../../../../../lambda/adapters/s3/quarantine.ts';
import { T0 } from '../../../../support/clock.ts';

const s3 = mockClient(S3Client);
const keep = createQuarantine(
  new S3Client({ region: 'eu-west-1' }),
  'failures',
  () => 'id-1',
  () => T0,
);

beforeEach(() => {
  s3.reset();
});

it('a record that cannot be handled is kept whole, under a name of its own', async () => {
  s3.on(PutObjectCommand).resolves({});

  await keep({ eventName: 'INSERT', dynamodb: { Keys: { pk: { S: 'odd' } } } });

  expect(s3.commandCalls(PutObjectCommand).map(({ args }) => args[0].input)).toEqual([
    {
      Bucket: 'failures',
      Key: 'relay-outbox/2026-03-02T09:00:00.000Z-id-1.json',
      Body: '{"eventName":"INSERT","dynamodb":{"Keys":{"pk":{"S":"odd"}}}}',
      ContentType: 'application/json',
    },
  ]);
});

it('fails when the bucket does not take it, so that the record comes again', async () => {
  s3.on(PutObjectCommand).rejects(new Error('no bucket'));

  await expect(keep({})).rejects.toThrow('no bucket');
});
