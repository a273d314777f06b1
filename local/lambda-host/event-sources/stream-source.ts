import {
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type Shard,
} from '@aws-sdk/client-dynamodb-streams';

import type { FunctionPool } from '../pool.ts';
import { readBatchAnswer } from './batch-answer.ts';
import { createBatchingWindow } from './batching-window.ts';
import { checkpointKey, type Checkpoints } from './checkpoints.ts';
import type { EventSource } from './queue-source.ts';
import { carryBatch, type DiscardReason } from './stream-batch.ts';
import { type LambdaStreamRecord, toLambdaRecord } from './stream-record.ts';

/** As in AWS: a shard is asked four times a second while nothing comes. */
const POLL_MS = 250;
const LIST_SHARDS_MS = 5_000;
const RETRY_BASE_MS = 200;
const RETRY_CAP_MS = 10_000;

/** One mapping of a stream to a function. */
export interface StreamSourceOptions {
  readonly streams: DynamoDBStreamsClient;
  readonly streamArn: string;
  readonly pool: FunctionPool;
  readonly batchSize: number;
  /** How long records are gathered for a batch. */
  readonly windowSeconds: number;
  readonly matches: (event: unknown) => boolean;
  readonly bisect: boolean;
  readonly maxRetries: number;
  readonly maxAgeSeconds: number;
  readonly reportsItems: boolean;
  readonly checkpoints: Checkpoints;
  readonly discard: (
    records: readonly LambdaStreamRecord[],
    reason: DiscardReason,
    attempts: number,
    shardId: string,
  ) => Promise<void>;
  readonly onTrouble: (text: string) => void;
}

const isNamed = (error: unknown, ...names: string[]): boolean => error instanceof Error && names.includes(error.name);

/** Reads every shard from its checkpoint on, parents before children, and calls the function in order. */
export const startStreamSource = (options: StreamSourceOptions): EventSource => {
  const { streams, streamArn, pool, checkpoints } = options;
  const aborter = new AbortController();
  const stopped = () => aborter.signal.aborted;
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      function done() {
        clearTimeout(timer);
        aborter.signal.removeEventListener('abort', done);
        resolve();
      }
      aborter.signal.addEventListener('abort', done);
    });
  const keyOf = (shardId: string) => checkpointKey(pool.definition.name, streamArn, shardId);

  const iteratorOf = async (shardId: string): Promise<string | undefined> => {
    const { sequenceNumber } = checkpoints.get(keyOf(shardId));
    const at =
      sequenceNumber === undefined
        ? ({ ShardIteratorType: 'TRIM_HORIZON' } as const)
        : ({ ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: sequenceNumber } as const);
    const command = new GetShardIteratorCommand({ StreamArn: streamArn, ShardId: shardId, ...at });
    return (await streams.send(command, { abortSignal: aborter.signal })).ShardIterator;
  };
  const invoke = async (records: readonly LambdaStreamRecord[]) => {
    const result = await pool.invoke({ Records: records.map(({ event }) => event) });
    const ids = records.map(({ sequenceNumber }) => sequenceNumber);
    const answer = readBatchAnswer(result, ids, options.reportsItems);
    if (answer.kind === 'failed' && !stopped()) {
      options.onTrouble(`${pool.definition.name}: batch of ${records.length} from its stream: ${answer.reason}`);
    }
    return answer;
  };
  const carryRecords = async (shardId: string, records: readonly LambdaStreamRecord[]): Promise<boolean> => {
    const checkpoint = ({ sequenceNumber }: LambdaStreamRecord) => {
      checkpoints.set(keyOf(shardId), { sequenceNumber });
    };
    const wanted = records.filter(({ event }) => options.matches(event));
    for (let from = 0; from < wanted.length; from += options.batchSize) {
      if (stopped()) return false;
      const finished = await carryBatch(wanted.slice(from, from + options.batchSize), {
        ...options,
        invoke,
        checkpoint,
        discard: (given, reason, attempts) => options.discard(given, reason, attempts, shardId),
        now: Date.now,
        waitToRetry: async (attempt) => {
          await pause(Math.min(RETRY_CAP_MS, RETRY_BASE_MS * 2 ** (attempt - 1)));
          return !stopped();
        },
      });
      if (!finished) return false;
    }
    const last = records.at(-1);
    if (last) checkpoint(last);
    return true;
  };
  const readShard = async (shardId: string): Promise<void> => {
    const gather = createBatchingWindow({
      batchSize: options.batchSize,
      windowMs: options.windowSeconds * 1000,
      matches: ({ event }: LambdaStreamRecord) => options.matches(event),
      now: Date.now,
    });
    let iterator = await iteratorOf(shardId);
    while (iterator !== undefined && !stopped()) {
      const page = await streams.send(new GetRecordsCommand({ ShardIterator: iterator, Limit: 1000 }), {
        abortSignal: aborter.signal,
      });
      const read = (page.Records ?? []).map((record) => toLambdaRecord(record, streamArn));
      const records = gather(read, page.NextShardIterator === undefined);
      if (!(await carryRecords(shardId, records))) return;
      iterator = page.NextShardIterator;
      if (records.length === 0) await pause(POLL_MS);
    }
    if (!stopped()) checkpoints.set(keyOf(shardId), { ...checkpoints.get(keyOf(shardId)), closed: true });
  };
  const followShard = async (shardId: string): Promise<void> => {
    while (!stopped() && checkpoints.get(keyOf(shardId)).closed !== true) {
      try {
        await readShard(shardId);
      } catch (error) {
        if (stopped()) return;
        // Records older than a day are gone: what is left begins at the horizon.
        if (isNamed(error, 'TrimmedDataAccessException')) checkpoints.set(keyOf(shardId), {});
        else if (isNamed(error, 'ResourceNotFoundException')) return;
        else if (!isNamed(error, 'ExpiredIteratorException')) {
          options.onTrouble(`reading ${streamArn}: ${String(error)}`);
          await pause(1_000);
        }
      }
    }
  };
  const listShards = async (): Promise<readonly Shard[]> => {
    const shards: Shard[] = [];
    let from: string | undefined;
    do {
      const command = new DescribeStreamCommand({
        StreamArn: streamArn,
        ...(from !== undefined && { ExclusiveStartShardId: from }),
      });
      const { StreamDescription } = await streams.send(command, { abortSignal: aborter.signal });
      shards.push(...(StreamDescription?.Shards ?? []));
      from = StreamDescription?.LastEvaluatedShardId;
    } while (from !== undefined);
    return shards;
  };
  const followAll = async (): Promise<void> => {
    const following = new Map<string, Promise<void>>();
    while (!stopped()) {
      try {
        const shards = await listShards();
        const listed = new Set(shards.map(({ ShardId }) => ShardId));
        for (const { ShardId, ParentShardId } of shards) {
          if (ShardId === undefined || following.has(ShardId)) continue;
          // A parent's records come first: one item's changes move from it to a child.
          const waits = listed.has(ParentShardId) && checkpoints.get(keyOf(ParentShardId ?? '')).closed !== true;
          if (!waits) following.set(ShardId, followShard(ShardId));
        }
      } catch (error) {
        if (!stopped()) options.onTrouble(`listing shards of ${streamArn}: ${String(error)}`);
      }
      await pause(LIST_SHARDS_MS);
    }
    await Promise.all(following.values());
  };
  const reading = followAll();
  return {
    stop: async () => {
      aborter.abort();
      await reading;
    },
  };
};
