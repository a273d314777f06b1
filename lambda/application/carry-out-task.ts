import type { Dispatch } from '../domain/dispatch.ts';
import { cancelRows } from './cancel-rows.ts';
import type { OpenTask, TaskRepository, TaskRow } from './operate-ports.ts';
import type { Clock, NewId, RecipientRepository, SendQueue, Sleep, TaskKey } from './ports.ts';
import { resumeRows } from './resume-rows.ts';

export interface CarryOutTaskDeps {
  readonly tasks: TaskRepository;
  readonly recipients: RecipientRepository;
  readonly sendQueue: SendQueue;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly sleep: Sleep;
}

/** What one page of rows came to. */
export interface PageReport {
  readonly cancelled: number;
  readonly reopened: number;
  readonly enqueued: number;
  /** Rows that no version of this code can read; a person must look. */
  readonly broken: number;
}

/** What became of a task. `more`: its message must come again; `overtaken`: another worker goes on with it. */
export interface TaskReport extends PageReport {
  readonly outcome: 'done' | 'more' | 'overtaken' | 'nothing-left';
  readonly kind?: OpenTask['kind'];
}

export type CarryOutTask = (key: TaskKey, remainingMs: () => number) => Promise<TaskReport>;

export const NO_ROWS: PageReport = { cancelled: 0, reopened: 0, enqueued: 0, broken: 0 };

/** Enough for a page of rows even when the table is slow. */
const PAGE_MS = 15_000;

/**
 * Goes on with a task where it stands, page by page, until it is done or time is short. May run twice or die half-way:
 * what it does to a row depends on the row alone, and only one worker moves the cursor on.
 */
export const createCarryOutTask =
  (deps: CarryOutTaskDeps): CarryOutTask =>
  async (key, remainingMs) => {
    const { tasks, newId } = deps;
    let report = NO_ROWS;
    let task = await tasks.find(key);
    if (task === undefined) return { outcome: 'nothing-left', ...report };
    for (;;) {
      const { kind } = task;
      if (remainingMs() < PAGE_MS) return { outcome: 'more', kind, ...report };
      const page = await carryOutPage(deps, key, task);
      report = addReports(report, page.report);
      const step = newId();
      if (!(await tasks.advance(key, task, page.next, step))) return { outcome: 'overtaken', kind, ...report };
      if (page.next === undefined) return { outcome: 'done', kind, ...report };
      task = { ...task, cursor: page.next, step };
    }
  };

const carryOutPage = async (deps: CarryOutTaskDeps, { dispatchId }: TaskKey, task: OpenTask) => {
  const dispatch = await deps.tasks.dispatch(dispatchId);
  // Nothing is sent any more in a cancelled dispatch, so there is nothing to resume.
  if (dispatch === undefined || (task.kind === 'resume' && dispatch.status === 'CANCELLED')) return { report: NO_ROWS };
  const statuses = task.kind === 'cancel' ? (['PENDING'] as const) : (['PENDING', 'FAILED'] as const);
  const { rows, next } = await deps.tasks.rows(dispatch, statuses, task.cursor ?? { shard: 0 });
  const report = await carryOutRows(deps, task, dispatch, rows);
  return { report, ...(next !== undefined && { next }) };
};

const carryOutRows = async (
  deps: CarryOutTaskDeps,
  task: OpenTask,
  dispatch: Dispatch,
  rows: readonly TaskRow[],
): Promise<PageReport> => {
  const broken = rows.filter(({ recipient }) => recipient === 'broken').length;
  switch (task.kind) {
    case 'cancel':
      return { ...NO_ROWS, broken, cancelled: await cancelRows(deps, rows) };
    case 'resume':
      return { ...NO_ROWS, broken, ...(await resumeRows(deps, task, dispatch, rows)) };
  }
};

const addReports = (a: PageReport, b: PageReport): PageReport => ({
  cancelled: a.cancelled + b.cancelled,
  reopened: a.reopened + b.reopened,
  enqueued: a.enqueued + b.enqueued,
  broken: a.broken + b.broken,
});
