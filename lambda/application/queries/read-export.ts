import type { Instant } from '../../domain/shared/instant.ts';
import type { ExportRepository, FoundExport } from '../ports/operate-ports.ts';
import type { Clock, TaskKey } from '../ports/ports.ts';
import type { Reader } from './read-dispatch.ts';
import type { ReadRepository } from '../ports/read-ports.ts';

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
