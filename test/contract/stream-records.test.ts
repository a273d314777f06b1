import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { DynamoDBRecord } from 'aws-lambda';
import { describe, expect, it } from 'vitest';

import type { OutboxRecord } from '../../lambda/application/relay/relay-outbox.ts';
import { interpret } from '../../lambda/handlers/relay-outbox/handler.ts';
import { compileFilters } from '../../local/lambda-host/event-sources/filter.ts';
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

/** The same change to another state. */
const to = (index: number, status: string): DynamoDBRecord => {
  const record = at(index);
  return { ...record, dynamodb: { ...record.dynamodb, NewImage: { ...record.dynamodb?.NewImage, status: { S: status } } } };
};

/** What the relay makes of each, and whether progress is told. */
const SAMPLES: readonly (readonly [string, DynamoDBRecord, OutboxRecord, 'counted' | 'not counted'])[] = [
  ['a new dispatch', at(0), OTHER, 'not counted'],
  ['new content', at(1), OTHER, 'not counted'],
  ['a new batch', at(2), OF_BATCH, 'not counted'],
  ['a new recipient', at(3), OF_RECIPIENT, 'not counted'],
  ['a claim', at(4), OTHER, 'counted'],
  ['a retry to come', at(5), OTHER, 'counted'],
  ['a second claim', at(6), OTHER, 'counted'],
  ['used-up attempts', at(7), OTHER, 'counted'],
  ['a reopened recipient', at(8), OF_RECIPIENT, 'counted'],
  ['a reopened recipient of whom nobody knew', from(8, 'UNKNOWN'), OF_RECIPIENT, 'counted'],
  ['a dispatch that is open again', at(9), OTHER, 'not counted'],
  ['a dispatch that completed', to(9, 'COMPLETED'), OTHER, 'counted'],
  ['a dispatch that was stopped', to(9, 'STOPPED'), OTHER, 'counted'],
  ['a dispatch that was cancelled', to(9, 'CANCELLED'), OTHER, 'counted'],
  ['content that no longer expires', at(10), OTHER, 'not counted'],
  ['a third claim', at(11), OTHER, 'counted'],
  ['a sent recipient', at(12), OTHER, 'counted'],
  ['a removed recipient', at(13), OTHER, 'not counted'],
  ['a recipient that TTL removed', byTtl(13), OTHER, 'not counted'],
  ['a removed batch', at(14), OTHER, 'not counted'],
  ['a new task', at(15), OF_TASK, 'not counted'],
  ['a task that goes on', at(16), OTHER, 'not counted'],
  ['a retry that is done', at(17), OTHER, 'counted'],
];

describe('a record of the stream is relayed if and only if somebody waits for it (O2)', () => {
  it.each(SAMPLES)('%s', (_name, record, expected) => {
    expect(interpret(record)).toEqual(expected);
  });
});

const { dispatch } = synthesize();

/** The filters of an event source, as it applies them. */
const filtersOf = (mapping: string) => {
  const { Filters } = one(dispatch, 'AWS::Lambda::EventSourceMapping', mapping).Properties['FilterCriteria'] as {
    Filters: { Pattern: string }[];
  };
  return compileFilters(Filters.map(({ Pattern }) => Pattern));
};

describe('the filters of the outbox pass what is relayed, and nothing else (O3)', () => {
  const passes = filtersOf('Outbox');

  it.each(SAMPLES)('%s', (_name, record, { kind }) => {
    expect(passes(record)).toBe(kind !== 'other');
  });
});

describe('the filters of progress pass what is counted or told to others, and nothing else (O3)', () => {
  const passes = filtersOf('Progress');

  it.each(SAMPLES)('%s', (_name, record, _relayed, counted) => {
    expect(passes(record)).toBe(counted === 'counted');
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
    expect(interpret(record as DynamoDBRecord)).toEqual({ kind: 'malformed', record });
  });
});
