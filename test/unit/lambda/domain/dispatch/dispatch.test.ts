import { describe, expect, it } from 'vitest';

import {
  addCounts,
  countRows,
  type Counts,
  type Dispatch,
  isActive,
  isComplete,
  needsAttention,
  outcomeOf,
  statusNow,
  wasCounted,
  withBatches,
  withUnexpanded,
} from '../../../../../lambda/domain/dispatch/dispatch.ts';
import { someCounts, someDeliveries } from '../../../../support/builders.ts';

describe('a dispatch is complete', () => {
  it.each<[string, number, Partial<Counts>, boolean]>([
    ['when each recipient was sent', 3, { SENT: 3 }, true],
    ['when each is final, whatever way', 4, { SENT: 1, FAILED: 1, UNKNOWN: 1, CANCELLED: 1 }, true],
    ['but not while one is pending', 3, { SENT: 2, PENDING: 1 }, false],
    ['but not while one is under way', 3, { SENT: 2, PROCESSING: 1 }, false],
    ['but not while rows are missing, though all there are sent (Q9)', 50_000, { SENT: 3_000 }, false],
    ['but not with more rows than recipients', 3, { SENT: 4 }, false],
  ])('%s', (_name, total, counts, expected) => {
    expect(isComplete(total, someCounts(counts))).toBe(expected);
  });
});

describe('what a dispatch came to', () => {
  it.each<[string, Partial<Counts>]>([
    ['all-sent', { SENT: 3 }],
    ['partly-sent', { SENT: 2, FAILED: 1 }],
    ['none-sent', { FAILED: 2, CANCELLED: 1 }],
  ])('%s', (expected, counts) => {
    expect(outcomeOf(someCounts(counts))).toBe(expected);
  });
});

describe('a person should look', () => {
  it.each<[string, Partial<Counts>, boolean]>([
    ['when one failed', { SENT: 2, FAILED: 1 }, true],
    ['when one is unknown', { SENT: 2, UNKNOWN: 1 }, true],
    ['but not when all were sent', { SENT: 3 }, false],
    ['but not for what was cancelled on purpose', { SENT: 1, CANCELLED: 2 }, false],
    ['but not for what is still under way', { PENDING: 2, PROCESSING: 1 }, false],
  ])('%s', (_name, counts, expected) => {
    expect(needsAttention(someCounts(counts))).toBe(expected);
  });

  it.each([
    ['when more than ten mails and more than one in ten bounced', 109, { bounced: 11 }, true],
    ['but not when no more than one in ten did', 110, { bounced: 11 }, false],
    ['but not for ten bounces', 10, { bounced: 10 }, false],
    ['but not for soft bounces, which may be automatic replies (V4)', 80, { 'soft-bounced': 80 }, false],
    ['but not for suppressed addresses, to which nothing was sent', 80, { suppressed: 80 }, false],
    ['when more than five mails and more than one in 200 were complained about', 1_199, { complained: 6 }, true],
    ['but not when no more than one in 200 was', 1_200, { complained: 6 }, false],
    ['but not for five complaints', 5, { complained: 5 }, false],
  ])('%s', (_name, SENT, deliveries, expected) => {
    expect(needsAttention(someCounts({ SENT }), someDeliveries(deliveries))).toBe(expected);
  });
});

it('recipients that are still in a batch are pending (Q9)', () => {
  expect(withBatches(10, someCounts({ PENDING: 1, SENT: 3 }))).toEqual(someCounts({ PENDING: 7, SENT: 3 }));
  expect(withBatches(3, someCounts({ SENT: 3 }))).toEqual(someCounts({ SENT: 3 }));
});

it.each<[Dispatch['status'], boolean | undefined, boolean]>([
  ['ACCEPTED', undefined, false],
  ['IN_PROGRESS', undefined, false],
  ['STOPPED', undefined, false],
  ['CANCELLED', undefined, false],
  ['CANCELLED', false, true],
  ['COMPLETED', true, true],
])('the rows of a dispatch that is %s, with attention needed %s, were counted at its end: %o', (status, attention, expected) => {
  expect(wasCounted({ status, ...(attention !== undefined && { needsAttention: attention }) })).toBe(expected);
});

it.each<[Dispatch['status'], boolean]>([
  ['ACCEPTED', true],
  ['IN_PROGRESS', true],
  ['COMPLETED', true],
  ['STOPPED', false],
  ['CANCELLED', false],
])('recipients of a dispatch that is %s are sent to: %o', (status, expected) => {
  expect(isActive(status)).toBe(expected);
});

describe('the status to show', () => {
  it.each<[string, Dispatch['status'], Partial<Counts>, string]>([
    ['stays accepted while nothing was claimed', 'ACCEPTED', { PENDING: 3 }, 'ACCEPTED'],
    ['stays accepted before its batches are expanded', 'ACCEPTED', {}, 'ACCEPTED'],
    ['is in progress once one is under way', 'ACCEPTED', { PENDING: 2, PROCESSING: 1 }, 'IN_PROGRESS'],
    ['is completed once all are final', 'IN_PROGRESS', { SENT: 2, FAILED: 1 }, 'COMPLETED'],
    ['stays in progress when all went back to pending', 'IN_PROGRESS', { PENDING: 3 }, 'IN_PROGRESS'],
    ['stays stopped whatever the rows say', 'STOPPED', { SENT: 3 }, 'STOPPED'],
    ['stays cancelled whatever the rows say', 'CANCELLED', { SENT: 3 }, 'CANCELLED'],
  ])('%s', (_name, status, counts, expected) => {
    expect(statusNow({ status, total: 3 }, someCounts(counts))).toBe(expected);
  });
});

it('the rows of two shards add up', () => {
  const sum = addCounts(
    { PENDING: 1, PROCESSING: 2, SENT: 3, FAILED: 4, UNKNOWN: 5, CANCELLED: 6 },
    { PENDING: 10, PROCESSING: 20, SENT: 30, FAILED: 40, UNKNOWN: 50, CANCELLED: 60 },
  );

  expect(sum).toEqual({ PENDING: 11, PROCESSING: 22, SENT: 33, FAILED: 44, UNKNOWN: 55, CANCELLED: 66 });
  expect(countRows(sum)).toBe(231);
});

describe('a cancelled dispatch of which batches were removed', () => {
  it('has as many cancelled recipients more as have no row', () => {
    expect(withUnexpanded({ total: 10, unexpanded: 6 }, someCounts({ SENT: 4 }))).toEqual(someCounts({ SENT: 4, CANCELLED: 6 }));
  });

  it('counts nobody twice of a batch that was expanded in part', () => {
    expect(withUnexpanded({ total: 10, unexpanded: 6 }, someCounts({ SENT: 4, CANCELLED: 5 }))).toEqual(
      someCounts({ SENT: 4, CANCELLED: 6 }),
    );
  });

  it('is as its rows are if none was removed', () => {
    expect(withUnexpanded({ total: 10 }, someCounts({ PENDING: 3 }))).toEqual(someCounts({ PENDING: 3 }));
  });
});
