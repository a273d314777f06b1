import { beforeEach, describe, expect, it } from 'vitest';

import type { OrphanSearch } from '../../../../../lambda/application/ports/objects.ts';
import { createDeleteOrphans, type OrphanReport } from '../../../../../lambda/application/sweep/delete-orphans.ts';
import { parseObjectKey } from '../../../../../lambda/contracts/queue/object-key.ts';
import { createFakeClock, type FakeClock, T0 } from '../../../../support/clock.ts';
import { createFakeObjects, type FakeObjects } from '../../../../support/fake-objects.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;
let clock: FakeClock;
let objects: FakeObjects;
let named: Set<string>;
let search: OrphanSearch;
/** Dispatches with an item that no version of this code wrote. */
let unreadable: Set<string>;
let reports: OrphanReport[];
/** Dispatches whose items were read. */
let read: string[];

beforeEach(() => {
  clock = createFakeClock();
  objects = createFakeObjects();
  objects.now = T0;
  named = new Set();
  search = {};
  unreadable = new Set();
  reports = [];
  read = [];
});

const ofDispatch = (dispatchId: string, isContent: boolean) => {
  read.push(dispatchId);
  return [...named].filter((key) => {
    const place = parseObjectKey(key);
    return place?.dispatchId === dispatchId && (place.name === 'content') === isContent;
  });
};

const run = (remainingMs = () => 60_000) =>
  createDeleteOrphans({
    inventory: objects,
    orphans: {
      placeOf: (key) => {
        const place = parseObjectKey(key);
        return place && { dispatchId: place.dispatchId, holds: place.name === 'content' ? 'content' : 'batch' };
      },
      namedObjects: (id, holds) =>
        Promise.resolve(unreadable.has(id) ? 'unreadable' : new Set(ofDispatch(id, holds === 'content'))),
      search: () => Promise.resolve(search),
      advance: (next) => {
        search = next;
        return Promise.resolve();
      },
    },
    clock: clock.now,
    observe: (report) => reports.push(report),
  })(remainingMs);

const put = (dispatchId: string, name: string, text = name) =>
  objects.begin(dispatchId).put(name, new TextEncoder().encode(text));
const left = () => [...objects.stored.keys()].sort();

describe('objects that no item names', () => {
  it('are deleted once they are older than an hour', async () => {
    await put('d1', '0');
    await put('d1', 'content');
    clock.advance(HOUR);
    await run();
    expect(left()).toHaveLength(2);

    clock.advance(15 * MINUTE);
    await run();
    expect(left()).toEqual([]);
    expect(reports.at(-1)).toEqual({ listed: 2, deleted: 2, batchesOverdue: 0, unknown: 0, isWhole: true });
  });

  it('are told from those that a batch or the content of their dispatch names', async () => {
    const batch = await put('d1', '0', 'committed');
    const content = await put('d1', 'content', 'committed');
    await put('d1', '0', 'of a try that was not committed');
    await put('d2', 'content');
    named = new Set([batch, content]);
    clock.advance(2 * HOUR);

    await run();

    expect(left()).toEqual([batch, content].sort());
    expect(reports).toEqual([{ listed: 4, deleted: 2, batchesOverdue: 1, unknown: 0, isWhole: true }]);
  });

  it('are left alone while they are young, be it beside others of a repetition an hour later (V31)', async () => {
    await put('d1', '0', 'the first try');
    clock.advance(HOUR + 1);
    objects.now = clock.now();
    const repeated = await put('d1', '0', 'the repetition, not committed yet');

    await run();

    expect(left()).toEqual([repeated]);
    expect(await objects.read(repeated)).toBeInstanceOf(Uint8Array);
  });

  it('stay if no version of this code made their key', async () => {
    objects.stored.set('table-1/readme.txt', { body: new Uint8Array(), storedAt: T0 });
    clock.advance(2 * HOUR);

    await run();

    expect(left()).toEqual(['table-1/readme.txt']);
    expect(reports[0]?.unknown).toBe(1);
  });
});

it('an item that cannot be read keeps the objects of its dispatch, and no others', async () => {
  const kept = [await put('d1', '0'), await put('d1', 'content')];
  await put('d2', '0');
  unreadable = new Set(['d1']);
  clock.advance(2 * HOUR);

  await run();

  expect(left()).toEqual(kept.sort());
  expect(reports).toEqual([{ listed: 3, deleted: 1, batchesOverdue: 0, unknown: 2, isWhole: true }]);
});

describe('overdue batches', () => {
  it('in the first part of a search are among those that it reports at its end', async () => {
    objects.pageSize = 10;
    named = new Set();
    for (let i = 0; i < 105; i += 1) {
      const key = await put(`d${String(i).padStart(3, '0')}`, '0');
      if (i % 100 === 3) named.add(key);
    }
    named.add(await put('d200', 'content'));
    clock.advance(2 * HOUR);

    for (let searches = 0; searches < 3; searches += 1) {
      await run();
      clock.advance(15 * MINUTE);
    }

    // d003 in the first part, d103 in the second; from then on one search is enough.
    expect(reports.map(({ batchesOverdue, isWhole }) => [batchesOverdue, isWhole])).toEqual([
      [1, false],
      [2, true],
      [2, true],
    ]);
  });

  it('are not reported by a search that has no time to look', async () => {
    await put('d1', '0');

    await run(() => 15_000);
    expect(reports).toEqual([]);

    await run();
    expect(reports).toHaveLength(1);
  });
});

describe('the search', () => {
  it('is made every 15 minutes at most', async () => {
    await run();
    clock.advance(15 * MINUTE - 1);
    await run();
    expect(reports).toHaveLength(1);

    clock.advance(1);
    await run();
    expect(reports).toHaveLength(2);
  });

  it('ends after ten pages, and the next one goes on there', async () => {
    objects.pageSize = 10;
    for (let i = 0; i < 105; i += 1) await put(`d${String(i).padStart(3, '0')}`, '0');
    clock.advance(2 * HOUR);

    await run();
    expect(left()).toHaveLength(5);
    clock.advance(15 * MINUTE);
    await run();

    expect(left()).toEqual([]);
    expect(search).toEqual({ lastAt: clock.now() });
  });

  it('begins no page without time for it', async () => {
    objects.pageSize = 1;
    await put('d1', '0');
    await put('d2', '0');
    clock.advance(2 * HOUR);
    const remaining = [15_001, 15_000];

    await run(() => remaining.shift() ?? 0);

    expect(left()).toHaveLength(1);
    expect(search.cursor).toBeDefined();
  });

  it('reads the items of each dispatch once a page, and none for young objects', async () => {
    for (let i = 0; i < 50; i += 1) await put('d1', String(i));
    objects.now = T0 + 2 * HOUR;
    await put('d2', '0');
    clock.advance(2 * HOUR);

    await run();

    expect(read).toEqual(['d1']);
  });
});
