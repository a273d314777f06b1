import type { Dispatch } from '../../domain/dispatch/dispatch.ts';
import type { RecipientStatus } from '../../domain/recipient/recipient.ts';
import type { RecipientPosition } from '../ports/queries.ts';
import type { SendQueue, TaskKey } from '../ports/queues.ts';
import type { RecipientRepository } from '../ports/recipients.ts';
import type { Clock, NewId, Sleep } from '../ports/system.ts';
import type { ExportStore, OpenTask, TaskProgress, TaskRepository, TaskRow } from '../ports/tasks.ts';
import { cancelRows } from './cancel-rows.ts';
import { exportRows } from './export-rows.ts';
import { dropLeftBatches, expandLeftBatches, type LeftBatchesDeps } from './pending-batches.ts';
import { resumeRows } from './resume-rows.ts';
import { retryRows } from './retry-rows.ts';
import { settleRows } from './settle-rows.ts';

export interface RunTaskDeps extends LeftBatchesDeps {
  readonly tasks: TaskRepository;
  readonly recipients: RecipientRepository;
  readonly sendQueue: SendQueue;
  readonly exports: ExportStore;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly sleep: Sleep;
}

/** What one page of rows came to. */
export interface PageReport {
  readonly cancelled: number;
  readonly reopened: number;
  readonly settled: number;
  readonly enqueued: number;
  /** Recipients that an export got. */
  readonly exported: number;
  /** Rows that no version of this code can read; a person must look. */
  readonly broken: number;
}

/** What became of a task. `more`: its message must come again; `overtaken`: another worker goes on with it. */
export interface TaskReport extends PageReport {
  readonly outcome: 'done' | 'more' | 'overtaken' | 'nothing-left';
  readonly kind?: OpenTask['kind'];
}

export type RunTask = (key: TaskKey, remainingMs: () => number) => Promise<TaskReport>;

export const NO_ROWS: PageReport = { cancelled: 0, reopened: 0, settled: 0, enqueued: 0, exported: 0, broken: 0 };

/** Enough for a page of rows even when the table is slow. */
const PAGE_MS = 15_000;

/**
 * Goes on with a task where it stands, page by page, until it is done or time is short. May run twice or die half-way:
 * what it does to a row depends on the row alone, and only one worker moves the cursor on.
 */
export const createRunTask =
  (deps: RunTaskDeps): RunTask =>
  async (key, remainingMs) => {
    const { tasks, newId } = deps;
    let report = NO_ROWS;
    let task = await tasks.find(key);
    if (task === undefined) return { outcome: 'nothing-left', ...report };
    for (;;) {
      const { kind } = task;
      if (remainingMs() < PAGE_MS) return { outcome: 'more', kind, ...report };
      const page: Page = await runPage(deps, key, task);
      report = addReports(report, page.report);
      const step = newId();
      if (!(await tasks.advance(key, task, page.next, step, page.progress))) return { outcome: 'overtaken', kind, ...report };
      if (page.next === undefined) return { outcome: 'done', kind, ...report };
      task = { ...task, cursor: page.next, step, ...page.progress };
    }
  };

/** What one page came to, and where the next one begins. */
interface Page {
  readonly report: PageReport;
  readonly next?: RecipientPosition;
  readonly progress?: TaskProgress;
}

const runPage = async (deps: RunTaskDeps, key: TaskKey, task: OpenTask): Promise<Page> => {
  const dispatch = await deps.tasks.dispatch(key.dispatchId);
  // Nothing is sent any more in a cancelled dispatch, so there is nothing to resume.
  if (dispatch === undefined || (isAboutSending(task) && dispatch.status === 'CANCELLED')) return { report: NO_ROWS };
  if (task.kind === 'export') {
    const { broken, exported, ...page } = await exportRows(deps, key, task, dispatch);
    return { report: { ...NO_ROWS, broken, exported }, ...page };
  }
  if (task.cursor === undefined && task.kind === 'resume') await expandLeftBatches(deps, key.dispatchId);
  const dropped = task.cursor === undefined && task.kind === 'cancel' ? await dropLeftBatches(deps, key.dispatchId) : 0;
  const { rows, next } = await deps.tasks.rows(dispatch, statusesOf(task), task.cursor ?? { shard: 0 });
  const { cancelled, ...others } = await runRows(deps, task, dispatch, rows);
  const report = { ...others, cancelled: cancelled + dropped };
  return { report, ...(next !== undefined && { next }) };
};

const isAboutSending = ({ kind }: OpenTask): boolean => kind === 'resume' || kind === 'retry';

const statusesOf = ({ kind, statuses = [] }: OpenTask): readonly RecipientStatus[] => {
  switch (kind) {
    case 'cancel':
      return ['PENDING'];
    case 'resume':
      return ['PENDING', 'FAILED'];
    case 'settle':
      return ['UNKNOWN'];
    case 'retry':
    case 'export':
      return statuses;
  }
};

const runRows = async (deps: RunTaskDeps, task: OpenTask, dispatch: Dispatch, rows: readonly TaskRow[]): Promise<PageReport> => {
  const broken = rows.filter(({ recipient }) => recipient === 'broken').length;
  switch (task.kind) {
    case 'cancel':
      return { ...NO_ROWS, broken, cancelled: await cancelRows(deps, rows) };
    case 'resume':
      return { ...NO_ROWS, broken, ...(await resumeRows(deps, task, dispatch, rows)) };
    case 'retry':
      return { ...NO_ROWS, broken, reopened: await retryRows(deps, task, rows) };
    case 'settle':
      return { ...NO_ROWS, broken, settled: await settleRows(deps, task, rows) };
    case 'export':
      return { ...NO_ROWS, broken };
  }
};

const addReports = (a: PageReport, b: PageReport): PageReport => ({
  cancelled: a.cancelled + b.cancelled,
  reopened: a.reopened + b.reopened,
  settled: a.settled + b.settled,
  enqueued: a.enqueued + b.enqueued,
  exported: a.exported + b.exported,
  broken: a.broken + b.broken,
});
