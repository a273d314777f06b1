import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createFeedbackRepository } from '../../lambda/adapters/dynamo/control/feedback-repository.ts';
import type { FeedbackRepository } from '../../lambda/application/ports/control.ts';
import { MOST_UNAPPLIED, type UnappliedEvent } from '../../lambda/domain/sending/watermark.ts';
import { startTable, type TestTable } from '../support/table.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const DAY_MS = 86_400_000;

let table: TestTable;
let feedback: FeedbackRepository;

beforeEach(async () => {
  table = await startTable();
  feedback = createFeedbackRepository(table.client, table.tableName);
});
afterEach(async () => {
  await table.stop();
});

const eventsOf = (n: number, prefix = 'l'): UnappliedEvent[] =>
  Array.from({ length: n }, (_, i) => ({ lease: `${prefix}-${i}`, sentAt: NOW + i }));
const fill = async (n: number): Promise<void> => {
  for (let from = 0; from < n; from += 50) await feedback.addUnapplied(eventsOf(n).slice(from, from + 50), NOW);
};

describe('in the table, the state of feedback', () => {
  it('knows nothing at first', async () => {
    expect(await feedback.read()).toEqual({ unapplied: [] });
  });

  it('says what it was told', async () => {
    const events = [{ lease: '3f0e6c5e-56c8-4a3a-9a0d-0f6f1a1c2b3d', sentAt: NOW }, { sentAt: NOW + 1 }];
    expect(await feedback.addUnapplied(events, NOW)).toBe(true);
    await feedback.moveWatermark(NOW);
    expect(await feedback.recordBehind(NOW)).toBe(true);
    expect(await feedback.recordBehind(NOW - 1)).toBe(true);

    const told = await feedback.read();

    expect(told).toMatchObject({ watermark: NOW, behindAt: NOW });
    expect(told === 'unavailable' ? [] : told.unapplied.toSorted((a, b) => a.sentAt - b.sentAt)).toEqual(events);
  });

  it('moves its watermark on and never back, whoever comes first', async () => {
    await Promise.all([3, 1, 5, 2, 4].map((ms) => feedback.moveWatermark(NOW + ms)));

    expect(await feedback.read()).toMatchObject({ watermark: NOW + 5 });
  });

  it('removes unapplied events one by one, also those that it never had', async () => {
    await feedback.addUnapplied(eventsOf(3), NOW);

    await feedback.removeUnapplied(['l-1', 'nobody']);

    const told = await feedback.read();
    expect(told === 'unavailable' ? [] : told.unapplied.map(({ lease }) => lease).toSorted()).toEqual(['l-0', 'l-2']);
  });

  it('removes nothing when no event was ever kept', async () => {
    await feedback.removeUnapplied(['l-1']);

    expect(await feedback.read()).toEqual({ unapplied: [] });
  });

  it('keeps every event of workers that fail at once', async () => {
    const told = await Promise.all(Array.from({ length: 10 }, (_, i) => feedback.addUnapplied(eventsOf(5, `worker-${i}`), NOW)));

    expect(told.every(Boolean)).toBe(true);
    expect(await feedback.read()).toMatchObject({ unapplied: { length: 50 } });
  });

  it('refuses an event beyond its room, but not one that it has, and takes it once there is room', async () => {
    await fill(MOST_UNAPPLIED);

    expect(await feedback.addUnapplied([{ lease: 'one-more', sentAt: NOW }], NOW)).toBe(false);
    expect(await feedback.addUnapplied([{ lease: 'l-7', sentAt: NOW + 7 }], NOW)).toBe(true);
    await feedback.removeUnapplied(['l-7']);
    expect(await feedback.addUnapplied([{ lease: 'one-more', sentAt: NOW }], NOW)).toBe(true);

    expect(await feedback.read()).toMatchObject({ unapplied: { length: MOST_UNAPPLIED } });
  });

  it('makes room by forgetting events of two weeks ago', async () => {
    await fill(MOST_UNAPPLIED);

    expect(await feedback.addUnapplied([{ lease: 'one-more', sentAt: NOW }], NOW + 15 * DAY_MS)).toBe(true);

    expect(await feedback.read()).toMatchObject({ unapplied: { length: MOST_UNAPPLIED - 100 + 1 } });
  });

  it('is one item beside the others of the service', async () => {
    await feedback.moveWatermark(NOW);

    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.tableName, Key: { pk: 'CONTROL', sk: 'FEEDBACK' } }),
    );
    expect(Item).toEqual({ pk: 'CONTROL', sk: 'FEEDBACK', watermark: '2026-03-01T12:00:00.000Z' });
  });
});
