import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createWitnessRepository } from '../../lambda/adapters/dynamo/witness-repository.ts';
import type { WitnessRepository } from '../../lambda/application/ports.ts';
import { type Hold, MOST_HOLDS } from '../../lambda/domain/witness.ts';
import { startTable, type TestTable } from '../support/table.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const DAY_MS = 86_400_000;

let table: TestTable;
let witness: WitnessRepository;

beforeEach(async () => {
  table = await startTable();
  witness = createWitnessRepository(table.client, table.tableName);
});
afterEach(async () => {
  await table.stop();
});

const holdsOf = (n: number, prefix = 'l'): Hold[] =>
  Array.from({ length: n }, (_, i) => ({ lease: `${prefix}-${i}`, sentAt: NOW + i }));
const fill = async (n: number): Promise<void> => {
  for (let from = 0; from < n; from += 50) await witness.hold(holdsOf(n).slice(from, from + 50), NOW);
};

describe('in the table, the witness', () => {
  it('knows nothing at first', async () => {
    expect(await witness.read()).toEqual({ holds: [], canaries: [] });
  });

  it('says what it was told', async () => {
    const holds = [{ lease: '3f0e6c5e-56c8-4a3a-9a0d-0f6f1a1c2b3d', sentAt: NOW }, { sentAt: NOW + 1 }];
    expect(await witness.hold(holds, NOW)).toBe(true);
    await witness.moveMark(NOW);
    await witness.recordCanaries([NOW - 1, NOW]);

    const told = await witness.read();

    expect(told).toMatchObject({ mark: NOW, canaries: [NOW - 1, NOW] });
    expect(told === 'unavailable' ? [] : told.holds.toSorted((a, b) => a.sentAt - b.sentAt)).toEqual(holds);
  });

  it('moves its mark on and never back, whoever comes first', async () => {
    await Promise.all([3, 1, 5, 2, 4].map((ms) => witness.moveMark(NOW + ms)));

    expect(await witness.read()).toMatchObject({ mark: NOW + 5 });
  });

  it('lets one of twenty book the next canary', async () => {
    const booked = await Promise.all(Array.from({ length: 20 }, () => witness.bookCanary(NOW, 60)));

    expect(booked.filter(Boolean)).toHaveLength(1);
    expect(await witness.bookCanary(NOW + 59_999, 60)).toBe(false);
    expect(await witness.bookCanary(NOW + 60_000, 60)).toBe(true);
  });

  it('releases holds one by one, also those that it never had', async () => {
    await witness.hold(holdsOf(3), NOW);

    await witness.release(['l-1', 'nobody']);

    const told = await witness.read();
    expect(told === 'unavailable' ? [] : told.holds.map(({ lease }) => lease).toSorted()).toEqual(['l-0', 'l-2']);
  });

  it('has nothing to release while it never held', async () => {
    await witness.release(['l-1']);

    expect(await witness.read()).toEqual({ holds: [], canaries: [] });
  });

  it('keeps every hold of workers that fail at once', async () => {
    const told = await Promise.all(Array.from({ length: 10 }, (_, i) => witness.hold(holdsOf(5, `worker-${i}`), NOW)));

    expect(told.every(Boolean)).toBe(true);
    expect(await witness.read()).toMatchObject({ holds: { length: 50 } });
  });

  it('refuses a hold beyond its room, but not one that it has, and takes it once there is room', async () => {
    await fill(MOST_HOLDS);

    expect(await witness.hold([{ lease: 'one-more', sentAt: NOW }], NOW)).toBe(false);
    expect(await witness.hold([{ lease: 'l-7', sentAt: NOW + 7 }], NOW)).toBe(true);
    await witness.release(['l-7']);
    expect(await witness.hold([{ lease: 'one-more', sentAt: NOW }], NOW)).toBe(true);

    expect(await witness.read()).toMatchObject({ holds: { length: MOST_HOLDS } });
  });

  it('makes room by forgetting holds of two weeks ago', async () => {
    await fill(MOST_HOLDS);

    expect(await witness.hold([{ lease: 'one-more', sentAt: NOW }], NOW + 15 * DAY_MS)).toBe(true);

    expect(await witness.read()).toMatchObject({ holds: { length: MOST_HOLDS - 100 + 1 } });
  });

  it('is one item beside the others of the service', async () => {
    await witness.moveMark(NOW);

    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.tableName, Key: { pk: 'CONTROL', sk: 'FEEDBACK' } }),
    );
    expect(Item).toEqual({ pk: 'CONTROL', sk: 'FEEDBACK', mark: '2026-03-01T12:00:00.000Z' });
  });
});
