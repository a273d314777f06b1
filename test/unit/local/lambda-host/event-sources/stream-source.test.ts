import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, it } from 'vitest';

import type { Checkpoint } from '../../../../../local/lambda-host/event-sources/checkpoints.ts';
import { startStreamSource } from '../../../../../local/lambda-host/event-sources/stream-source.ts';

const record = (SequenceNumber: string) => ({ eventName: 'MODIFY' as const, dynamodb: { SequenceNumber } });

/** A stream of one shard, which ends after two records that are read one by one. @returns how the function got them */
const follow = async (windowSeconds: number): Promise<number[]> => {
  const streams = mockClient(DynamoDBStreamsClient);
  streams.on(DescribeStreamCommand).resolves({ StreamDescription: { Shards: [{ ShardId: 'shard' }] } });
  streams.on(GetShardIteratorCommand).resolves({ ShardIterator: 'first' });
  streams.on(GetRecordsCommand, { ShardIterator: 'first' }).resolves({ Records: [record('1')], NextShardIterator: 'second' });
  streams.on(GetRecordsCommand, { ShardIterator: 'second' }).resolves({ Records: [record('2')] });
  const calls: number[] = [];
  const place = new Map<string, Checkpoint>();
  const ended = Promise.withResolvers<undefined>();
  const source = startStreamSource({
    streams: new DynamoDBStreamsClient({ region: 'eu-west-1' }),
    streamArn: 'arn',
    pool: {
      definition: { name: 'f', arn: 'f', directory: '', handler: '', timeoutSeconds: 1, memoryMegabytes: 1, environment: {} },
      invoke: (event) => {
        calls.push((event as { Records: unknown[] }).Records.length);
        return Promise.resolve({ ok: true, payload: 'null' });
      },
      warm: () => Promise.resolve(undefined),
      pids: () => [],
      used: () => ({ invocations: 0, milliseconds: 0, processorMilliseconds: 0 }),
      crash: () => Promise.resolve(),
      stop: () => undefined,
    },
    batchSize: 100,
    windowSeconds,
    matches: () => true,
    bisect: true,
    maxRetries: 1,
    maxAgeSeconds: -1,
    reportsItems: true,
    checkpoints: {
      get: (shard) => place.get(shard) ?? {},
      set: (shard, checkpoint) => {
        place.set(shard, checkpoint);
        if (checkpoint.closed === true) ended.resolve(undefined);
      },
    },
    discard: () => Promise.resolve(),
    onTrouble: () => undefined,
  });
  await ended.promise;
  await source.stop();
  expect([...place.values()]).toEqual([{ sequenceNumber: '2', closed: true }]);
  streams.restore();
  return calls;
};

it('a stream with a batching window is handed over together, and read from where it was', async () => {
  expect(await follow(60)).toEqual([2]);
});

it('a stream without one is handed over as it comes', async () => {
  expect(await follow(0)).toEqual([1, 1]);
});
