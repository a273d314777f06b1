import { memoryUsage } from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import * as z from 'zod';

import { createOpenDispatchRepository } from '../../../../../lambda/adapters/dynamo/dispatch/open-dispatch-repository.ts';
import { createSweep } from '../../../../../lambda/application/sweep/sweep.ts';
import { toIso } from '../../../../../lambda/domain/shared/instant.ts';
import { aDispatch, rowCounts } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';
import { documentClient } from '../../../../support/dynamo.ts';
import { createFakeSending } from '../../../../support/fake-control.ts';
import { createFakeFeedback } from '../../../../support/fake-feedback.ts';
import { createFakeLedger } from '../../../../support/fake-ledger.ts';

const DISPATCHES = 28;
const SHARDS = 50;
const ROWS_PER_SHARD = 1_000;
const MEGABYTE = 1_048_576;

const HOUR = 3_600_000;

const dispatchItem = (dispatchId: string) => {
  const { createdAt, ...dispatch } = aDispatch({
    dispatchId,
    total: SHARDS * ROWS_PER_SHARD,
    shards: SHARDS,
    ...rowCounts({ PENDING: SHARDS * ROWS_PER_SHARD }),
  });
  const at = { createdAt: toIso(createdAt), lastProgressAt: toIso(T0 - HOUR), sweptAt: toIso(T0 - HOUR) };
  return { pk: `DISPATCH#${dispatchId}`, sk: 'DISPATCH', openKey: 'OPEN', ...dispatch, ...at };
};

const shardRows = (pk: string) =>
  Array.from({ length: ROWS_PER_SHARD }, (_, i) => ({
    pk,
    sk: `RECIPIENT#applicant-${pk}-${i}`,
    status: 'PENDING',
    nextAttemptAt: toIso(T0 - HOUR),
  }));

const Key = z.object({ pk: z.string() });
const Values = z.object({ ':pk': z.string().optional(), ':prefix': z.string().optional() });

/** A table of 28 dispatches all of whose 50,000 recipients have lost their message. */
const answer = (command: unknown): object => {
  if (command instanceof GetCommand) return { Item: dispatchItem(Key.parse(command.input.Key).pk.slice('DISPATCH#'.length)) };
  if (!(command instanceof QueryCommand)) return {};
  if (command.input.IndexName !== undefined) {
    return { Items: Array.from({ length: DISPATCHES }, (_, i) => ({ pk: `DISPATCH#d${i}`, sk: 'DISPATCH' })) };
  }
  const { ':pk': pk = '', ':prefix': prefix } = Values.parse(command.input.ExpressionAttributeValues);
  return { Items: prefix === undefined ? shardRows(pk) : [] };
};

const collectGarbage = (): (() => void) => {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  return () => {
    if (typeof gc === 'function') Reflect.apply(gc, undefined, []);
  };
};

it('a pass over 28 dispatches with 50,000 stuck rows each serves each of them, within 150 MB (V11)', async () => {
  const gc = collectGarbage();
  gc();
  const before = memoryUsage().heapUsed;
  let most = 0;
  let calls = 0;
  const served = new Map<string, number>();
  const sending = createFakeSending();
  const client = Object.assign(documentClient(), { send: (command: unknown) => Promise.resolve(answer(command)) });
  const sweep = createSweep({
    dispatches: createOpenDispatchRepository({ client, tableName: 'mail', openIndex: 'open', retentionDays: 30 }),
    sendQueue: {
      send: (messages) => {
        calls += 1;
        // Some hundred measurements are enough: what is kept grows or it does not.
        if (calls % 400 === 1) {
          gc();
          most = Math.max(most, memoryUsage().heapUsed - before);
        }
        for (const { key } of messages) served.set(key.dispatchId, (served.get(key.dispatchId) ?? 0) + 1);
        return Promise.resolve(messages.map(() => true));
      },
      hide: () => Promise.resolve(),
      depth: () => Promise.resolve(0),
    },
    taskQueue: { expand: () => Promise.resolve([]), enqueueTasks: () => Promise.resolve([]) },
    sending,
    sweeps: sending,
    feedback: createFakeFeedback(),
    ledger: createFakeLedger(),
    clock: () => T0,
    stuckAfterMs: 600_000,
    revisitMs: 900_000,
  });

  const report = await sweep({ atStart: false, remainingMs: () => 240_000 });

  expect(report).toMatchObject({ finished: true, failed: 0, reEnqueued: DISPATCHES * SHARDS * ROWS_PER_SHARD });
  expect(new Set(served.values())).toEqual(new Set([SHARDS * ROWS_PER_SHARD]));
  expect(served.size).toBe(DISPATCHES);
  expect(most / MEGABYTE).toBeLessThan(150);
});
