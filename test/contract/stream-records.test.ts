import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { DynamoDBRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';

import type { OutboxRecord } from '../../lambda/application/relay-outbox.ts';
import { interpret } from '../../lambda/handlers/relay-outbox/handler.ts';
import { compileFilters } from '../../local/sources/filter.ts';
import { one, synthesize } from '../infra/synthesized.ts';

/**
 * The stream of a table while one recipient was put, failed twice, was redriven, sent and removed, with what else
 * happens beside it; and of a dispatch that was resumed. Recorded from a server; the order is that of the stream.
 */
const recorded = JSON.parse(
  readFileSync(join(import.meta.dirname, 'recorded/stream-records.json'), 'utf8'),
) as readonly DynamoDBRecord[];

const OF_RECIPIENT: OutboxRecord = { kind: 'recipient', key: { dispatchId: 'd1', shard: 0, applyId: 'a-1' } };
const OF_TASK: OutboxRecord = { kind: 'task', key: { dispatchId: 'd1', task: 1 } };
const OF_BATCH: OutboxRecord = { kind: 'batch', key: { dispatchId: 'd1', batch: 7 } };
const OTHER: OutboxRecord = { kind: 'other' };

const at = (index: number): DynamoDBRecord => {
  const record = recorded[index];
  if (record === undefined) throw new Error(`no record ${index}`);
  return record;
};

/** As TTL removes an item. */
const byTtl = (index: number): DynamoDBRecord => ({
  ...at(index),
  userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' },
});

/** The same change from another state. */
const from = (index: number, status: string): DynamoDBRecord => {
  const record = at(index);
  return { ...record, dynamodb: { ...record.dynamodb, OldImage: { ...record.dynamodb?.OldImage, status: { S: status } } } };
};

const SAMPLES: readonly (readonly [string, DynamoDBRecord, OutboxRecord])[] = [
  ['a new dispatch', at(0), OTHER],
  ['new content', at(1), OTHER],
  ['a new batch', at(2), OF_BATCH],
  ['a new recipient', at(3), OF_RECIPIENT],
  ['a claim', at(4), OTHER],
  ['a retry to come', at(5), OTHER],
  ['a second claim', at(6), OTHER],
  ['used-up attempts', at(7), OTHER],
  ['a reopened recipient', at(8), OF_RECIPIENT],
  ['a reopened recipient of whom nobody knew', from(8, 'UNKNOWN'), OF_RECIPIENT],
  ['a dispatch that is open again', at(9), OTHER],
  ['content that no longer expires', at(10), OTHER],
  ['a third claim', at(11), OTHER],
  ['a sent recipient', at(12), OTHER],
  ['a removed recipient', at(13), OTHER],
  ['a recipient that TTL removed', byTtl(13), OTHER],
  ['a removed batch', at(14), OTHER],
  ['a new task', at(15), OF_TASK],
  ['a task that goes on', at(16), OTHER],
  ['a task that is done', at(17), OTHER],
];

describe('a record of the stream is relayed if and only if somebody waits for it (O2)', () => {
  it.each(SAMPLES)('%s', (_name, record, expected) => {
    expect(interpret(record)).toEqual(expected);
  });
});

describe('the filters of the event source pass what is relayed, and nothing else (O3)', () => {
  const { Properties } = one(synthesize().dispatch, 'AWS::Lambda::EventSourceMapping', 'Outbox');
  const { Filters } = Properties['FilterCriteria'] as { Filters: { Pattern: string }[] };
  const passes = compileFilters(Filters.map(({ Pattern }) => Pattern));

  it.each(SAMPLES)('%s', (_name, record, { kind }) => {
    expect(passes(record)).toBe(kind !== 'other');
  });
});

describe('a record that no version of this code can handle is poison, kept whole', () => {
  const withKeys = (pk: string, sk: string): DynamoDBRecord => ({
    ...at(3),
    dynamodb: { ...at(3).dynamodb, Keys: { pk: { S: pk }, sk: { S: sk } } },
  });

  it.each<[string, unknown]>([
    ['a recipient under a key of another form', withKeys('DISPATCH#d1', 'RECIPIENT#a-1')],
    ['a recipient without an id', withKeys('DISPATCH#d1#0', 'RECIPIENT#')],
    ['a batch without a number', withKeys('DISPATCH#d1', 'BATCH#x')],
    ['a task without a number', withKeys('DISPATCH#d1', 'TASK#x')],
    ['a task of no dispatch', withKeys('CONTROL', 'TASK#0001')],
    ['a record without keys', { ...at(3), dynamodb: { SequenceNumber: '1' } }],
    ['a record of a kind nobody knows', { ...at(3), eventName: 'TRUNCATE' }],
    ['an empty record', {}],
  ])('%s', (_name, record) => {
    expect(interpret(record as DynamoDBRecord)).toEqual({ kind: 'poison', record });
  });
});
