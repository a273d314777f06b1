import type { Dispatch } from '../../domain/dispatch/dispatch.ts';
import type { RecipientPosition } from '../ports/queries.ts';
import type { TaskKey } from '../ports/queues.ts';
import type { StoredRecipient } from '../ports/recipients.ts';
import type { Clock, NewId } from '../ports/system.ts';
import type { ExportStore, OpenTask, TaskProgress, TaskRepository } from '../ports/tasks.ts';

export interface ExportRowsDeps {
  readonly tasks: Pick<TaskRepository, 'wholeRows'>;
  readonly exports: ExportStore;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** What one page of an export came to. */
export interface ExportPage {
  readonly exported: number;
  readonly broken: number;
  readonly next?: RecipientPosition;
  readonly progress: TaskProgress;
}

/** A part is read in so many queries at most, each of 1,000 rows or 1 MB: seconds of work and some MB of memory. */
const QUERIES_PER_PART = 5;

/**
 * Writes the next part of the file; after the last one, the file. A part has a name of its own, and counts only once the
 * cursor has moved on: of two workers at one place, one leaves a part behind that nobody reads.
 */
export const exportRows = async (
  { tasks, exports, clock, newId }: ExportRowsDeps,
  key: TaskKey,
  { statuses, cursor, parts = [], written = 0 }: OpenTask,
  dispatch: Dispatch,
): Promise<ExportPage> => {
  const rows: StoredRecipient[] = [];
  let broken = 0;
  let position: RecipientPosition | undefined = cursor ?? { shard: 0 };
  for (let queries = 0; position !== undefined && queries < QUERIES_PER_PART; queries += 1) {
    const page: Awaited<ReturnType<TaskRepository['wholeRows']>> = await tasks.wholeRows(dispatch, statuses, position);
    for (const row of page.rows) {
      if (row === 'broken') broken += 1;
      else rows.push(row);
    }
    position = page.next;
  }
  const part = newId();
  if (rows.length > 0) await exports.putPart(key, part, rows);
  const all = rows.length > 0 ? [...parts, part] : parts;
  const progress = { parts: all, written: written + rows.length };
  if (position !== undefined) return { exported: rows.length, broken, next: position, progress };
  await exports.finish(key, all);
  return { exported: rows.length, broken, progress: { ...progress, doneAt: clock() } };
};
