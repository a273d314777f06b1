import type { Instant } from '../../domain/shared/instant.ts';
import type { ReadRepository } from '../ports/queries.ts';
import type { TaskKey } from '../ports/queues.ts';
import type { Clock } from '../ports/system.ts';
import type { ExportRepository, FoundExport } from '../ports/tasks.ts';
import type { Reader } from './read-dispatch.ts';

/** Files are kept for a day. */
const KEPT_MS = 24 * 3_600_000;

/** How an export stands; `gone`: its file is not kept any more. */
export type ExportNow = FoundExport &
  (
    | { readonly state: 'running' | 'gone' }
    /** To be fetched from there until then. */
    | { readonly state: 'done'; readonly url: string; readonly until: Instant }
  );

export type ReadExport = (reader: Reader, key: TaskKey) => Promise<ExportNow | 'no-export' | 'not-found'>;

/** Tells how an export stands, and where its file is. Another admin's is as good as none. */
export const createReadExport =
  (dispatches: Pick<ReadRepository, 'find'>, exports: ExportRepository, clock: Clock): ReadExport =>
  async ({ adminId, isOperator }, key) => {
    const dispatch = await dispatches.find(key.dispatchId);
    if (dispatch === undefined || !(isOperator || dispatch.adminId === adminId)) return 'not-found';
    const found = await exports.find(key);
    if (found === undefined) return 'no-export';
    if (found.doneAt === undefined) return { ...found, state: 'running' };
    if (found.doneAt + KEPT_MS <= clock()) return { ...found, state: 'gone' };
    return { ...found, state: 'done', ...(await exports.address(key)) };
  };
