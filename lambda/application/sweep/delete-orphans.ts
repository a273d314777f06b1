import type { ListedObject, ObjectInventory, OrphanRepository } from '../ports/objects.ts';
import type { Clock } from '../ports/system.ts';
import type { RemainingMs, SweepStep } from './sweep-step.ts';

/** What one search found and did. */
export interface OrphanReport {
  readonly listed: number;
  readonly deleted: number;
  /** Objects whose batch should have been expanded an hour ago, in all of the bucket up to where this search ended. */
  readonly batchesOverdue: number;
  /** Objects whose keys no version of this code made, or whose items it cannot read; they stay. */
  readonly unknown: number;
  /** Whether the search reached the last object, be it from where an earlier one ended. */
  readonly isWhole: boolean;
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

type Found = Omit<OrphanReport, 'isWhole'>;

const NOTHING: Found = { listed: 0, deleted: 0, batchesOverdue: 0, unknown: 0 };

/**
 * Deletes objects that no item names: of tries that were not committed, of expanded and of removed batches, of expired content. No
 * try to accept a request lives longer than its function, so an object of an hour ago can never be named any more.
 */
export const createDeleteOrphans = (deps: DeleteOrphansDeps): SweepStep => {
  const { inventory, orphans, clock, observe } = deps;
  return async (remainingMs: RemainingMs) => {
    const search = await orphans.search();
    if (search.lastAt !== undefined && search.lastAt + SEARCHES_APART_MS > clock()) return;
    let { cursor } = search;
    // A search that looks at nothing must not say that nothing is overdue.
    if (remainingMs() <= PAGE_NEEDS_MS) return;
    // What was found before the cursor goes on to count: the search before this one looked there.
    let found = { ...NOTHING, batchesOverdue: cursor === undefined ? 0 : (search.batchesOverdue ?? 0) };
    let pages = 0;
    do {
      const { objects, next } = await inventory.page(cursor);
      found = add(found, await deleteFrom(deps, objects));
      cursor = next;
      pages += 1;
    } while (cursor !== undefined && pages < PAGES && remainingMs() > PAGE_NEEDS_MS);
    const { batchesOverdue } = found;
    await orphans.advance({ lastAt: clock(), ...(cursor !== undefined && { cursor, batchesOverdue }) });
    observe({ ...found, isWhole: cursor === undefined });
  };
};

const add = (a: Found, b: Found): Found => ({
  listed: a.listed + b.listed,
  deleted: a.deleted + b.deleted,
  batchesOverdue: a.batchesOverdue + b.batchesOverdue,
  unknown: a.unknown + b.unknown,
});

const deleteFrom = async ({ inventory, orphans, clock }: DeleteOrphansDeps, objects: readonly ListedObject[]): Promise<Found> => {
  const old = objects.filter(({ storedAt }) => storedAt + HOUR_MS < clock());
  const known = old.flatMap(({ key }) => {
    const place = orphans.placeOf(key);
    return place === undefined ? [] : [{ key, ...place }];
  });
  let found: Found = { ...NOTHING, listed: objects.length, unknown: old.length - known.length };
  for (const [dispatchId, ofDispatch] of Map.groupBy(known, (object) => object.dispatchId)) {
    for (const [holds, ofOne] of Map.groupBy(ofDispatch, (object) => object.holds)) {
      // The objects were listed before: one that is not named now never will be.
      const named = await orphans.namedObjects(dispatchId, holds);
      // Whether one of them is named cannot be told; they must not keep the others from being looked at.
      if (named === 'unreadable') {
        found = { ...found, unknown: found.unknown + ofOne.length };
        continue;
      }
      const unnamed = ofOne.filter(({ key }) => !named.has(key));
      for (const { key } of unnamed) await inventory.remove(key);
      const overdue = holds === 'batch' ? ofOne.length - unnamed.length : 0;
      found = { ...found, deleted: found.deleted + unnamed.length, batchesOverdue: found.batchesOverdue + overdue };
    }
  }
  return found;
};
