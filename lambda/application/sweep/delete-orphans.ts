import type { ListedObject, ObjectInventory, OrphanRepository } from '../list-ports.ts';
import type { Clock } from '../ports.ts';
import type { RemainingMs, SweepStep } from './sweep-step.ts';

/** What one search found and did. */
export interface OrphanReport {
  readonly listed: number;
  readonly deleted: number;
  /** Objects whose batch should have been expanded an hour ago. */
  readonly batchesOverdue: number;
  /** Objects whose keys no version of this code made; they stay. */
  readonly unknown: number;
}

export interface DeleteOrphansDeps {
  readonly inventory: ObjectInventory;
  readonly orphans: OrphanRepository;
  readonly clock: Clock;
  /** Must not throw. */
  readonly observe: (report: OrphanReport) => void;
}

const HOUR_MS = 3_600_000;
const SEARCHES_APART_MS = 15 * 60_000;
/** Pages of one search; the next one goes on. */
const PAGES = 10;
/** Time that must be left to begin with another page. */
const PAGE_NEEDS_MS = 15_000;

const NOTHING: OrphanReport = { listed: 0, deleted: 0, batchesOverdue: 0, unknown: 0 };

/**
 * Deletes objects that no item names: of tries that were not committed, of expanded and of removed batches, of expired content. No
 * try to accept a request lives longer than its function, so an object of an hour ago can never be named any more.
 */
export const createDeleteOrphans = (deps: DeleteOrphansDeps): SweepStep => {
  const { inventory, orphans, clock, observe } = deps;
  return async (remainingMs: RemainingMs) => {
    const search = await orphans.search();
    if (search.lastAt !== undefined && search.lastAt + SEARCHES_APART_MS > clock()) return;
    let report = NOTHING;
    let cursor = search.cursor;
    for (let pages = 0; pages < PAGES && remainingMs() > PAGE_NEEDS_MS; pages += 1) {
      const { objects, next } = await inventory.page(cursor);
      report = add(report, await deleteFrom(deps, objects));
      cursor = next;
      if (cursor === undefined) break;
    }
    await orphans.advance({ lastAt: clock(), ...(cursor !== undefined && { cursor }) });
    observe(report);
  };
};

const add = (a: OrphanReport, b: OrphanReport): OrphanReport => ({
  listed: a.listed + b.listed,
  deleted: a.deleted + b.deleted,
  batchesOverdue: a.batchesOverdue + b.batchesOverdue,
  unknown: a.unknown + b.unknown,
});

const deleteFrom = async (
  { inventory, orphans, clock }: DeleteOrphansDeps,
  objects: readonly ListedObject[],
): Promise<OrphanReport> => {
  const old = objects.filter(({ storedAt }) => storedAt + HOUR_MS < clock());
  const known = old.flatMap(({ key }) => {
    const place = orphans.placeOf(key);
    return place === undefined ? [] : [{ key, ...place }];
  });
  let deleted = 0;
  let batchesOverdue = 0;
  for (const [dispatchId, ofOne] of Map.groupBy(known, (object) => object.dispatchId)) {
    // The objects were listed before: one that is not named now never will be.
    const batches = ofOne.some(({ holds }) => holds === 'batch') ? await orphans.batchObjects(dispatchId) : new Set<string>();
    const content = ofOne.some(({ holds }) => holds === 'content') ? await orphans.contentObject(dispatchId) : undefined;
    for (const { key } of ofOne) {
      if (batches.has(key)) batchesOverdue += 1;
      if (batches.has(key) || key === content) continue;
      await inventory.remove(key);
      deleted += 1;
    }
  }
  return { listed: objects.length, deleted, batchesOverdue, unknown: old.length - known.length };
};
