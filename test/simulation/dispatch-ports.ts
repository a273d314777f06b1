import type {
  EndingRepository,
  OpenDispatchRepository,
  OpenRowStatus,
  OverdueRow,
  RowsSeen,
} from '../../lambda/application/ports/progress.ts';
import type { OperateRepository, TaskRepository } from '../../lambda/application/ports/tasks.ts';
import {
  type Dispatch,
  needsAttention,
  outcomeOf,
  type RowCounts,
  statisticsFrom,
} from '../../lambda/domain/dispatch/dispatch.ts';
import type { Stop } from '../../lambda/domain/dispatch/stop-rule.ts';
import type { Instant } from '../../lambda/domain/shared/instant.ts';
import type { PortDeps } from './ports.ts';
import type { Process } from './scheduler.ts';
import { countRowsOf, type DispatchItem, type Row, taskName } from './table.ts';
import { valueOf } from './table-access.ts';

const isSending = ({ status }: Dispatch): boolean => status === 'ACCEPTED' || status === 'IN_PROGRESS';

/** Small, so that a task of a few rows already has several pages. */
const ROWS_PER_PAGE = 3;

/** Changes a dispatch's item if it is as the caller believes. Throws when the table does not answer. */
export const changeIf = async (
  { table, access }: PortDeps,
  process: Process,
  what: string,
  dispatchId: string,
  change: (item: DispatchItem) => DispatchItem | undefined,
): Promise<boolean> => {
  const effect = (): boolean => {
    const item = table.dispatches.get(dispatchId);
    const changed = item && change(item);
    if (changed === undefined) return false;
    table.putDispatch(changed, process);
    return true;
  };
  return valueOf(await access.ask(process, `${what} ${dispatchId}`, effect));
};

/** STOPPED, if it is being sent and was not resumed since it was read. */
export const stopItem = (deps: PortDeps, process: Process, dispatch: Dispatch, stop: Stop, now: Instant): Promise<boolean> =>
  changeIf(deps, process, 'stop', dispatch.dispatchId, (item) => {
    if (!isSending(item) || item.resumedAt !== dispatch.resumedAt) return undefined;
    const { reason, faultCode, faultSince } = stop;
    const fault = { ...(faultCode !== undefined && { faultCode }), ...(faultSince !== undefined && { faultSince }) };
    return { ...item, status: 'STOPPED', failureReason: reason, stoppedAt: now, ...fault };
  });

/** Dispatches that may be at their end. */
export const createEndingPort = (deps: PortDeps, process: () => Process): EndingRepository => {
  const { table, access, sabotage } = deps;
  const isAsRead = (item: DispatchItem, read: Dispatch): boolean =>
    item.generation === read.generation || sabotage === 'completion-unconditional';

  return {
    // All recipients are put at accept.
    batches: () => Promise.resolve([]),

    async rows(dispatch, now, hasTime) {
      const { dispatchId, shards } = dispatch;
      const rows: Row[] = [];
      for (let shard = 0; shard < shards; shard += 1) {
        if (!hasTime()) throw new Error('There is no time to read all rows.');
        const answer = await access.ask(process(), `rows of ${dispatchId}/${shard}`, () => table.rowsOf(dispatchId, shard));
        rows.push(...valueOf(answer));
      }
      return seenIn(rows, now, statisticsFrom(dispatch));
    },

    recount: (read, { counts, deliveries }, lastProgressAt) =>
      changeIf(deps, process(), 'recount', read.dispatchId, (item) =>
        item.isOpen && item.status === read.status && item.countsVersion === read.countsVersion
          ? { ...item, counts, deliveries, lastProgressAt }
          : undefined,
      ),

    complete: (read, rows, now) =>
      changeIf(deps, process(), 'complete', read.dispatchId, (item) => {
        if (!isAsRead(item, read) || !isSending(item)) return undefined;
        const end = { status: 'COMPLETED', completedAt: now, lastProgressAt: now, isOpen: true } as const;
        return { ...item, ...resultOf(rows), outcome: outcomeOf(rows.counts), ...end };
      }),

    close: (read, rows, now) =>
      changeIf(deps, process(), 'close', read.dispatchId, (item) =>
        isAsRead(item, read) && item.status === 'CANCELLED'
          ? { ...item, ...resultOf(rows), lastProgressAt: now, isOpen: true }
          : undefined,
      ),

    stop: (dispatch, stop, now) => stopItem(deps, process(), dispatch, stop, now),
  };
};

/** Dispatches as the sweeper sees them. */
export const createOpenDispatchPort = (deps: PortDeps, process: () => Process): OpenDispatchRepository => {
  const { table, access, sabotage } = deps;
  return {
    ...createEndingPort(deps, process),

    open: async function* () {
      const listed = valueOf(
        await access.ask(process(), 'open dispatches', () => [...table.dispatches.values()].filter(({ isOpen }) => isOpen)),
      );
      for (const { dispatchId } of listed) {
        const item = valueOf(await access.ask(process(), `open ${dispatchId}`, () => table.dispatches.get(dispatchId)));
        if (item?.isOpen === true) yield item;
      }
    },

    overdueRows: async ({ dispatchId, shards }, statuses, { until, shard }) => {
      const rows = valueOf(
        await access.ask(process(), `overdue of ${dispatchId}/${shard}`, () => table.rowsOf(dispatchId, shard)),
      );
      const overdue = overdueIn(rows, until).filter(({ status }) => statuses.includes(status));
      return { rows: overdue, ...(shard + 1 < shards && { next: { until, shard: shard + 1 } }) };
    },

    async keepRequeue(dispatchId, from) {
      await changeIf(deps, process(), 'keep requeue', dispatchId, (read) => {
        const { requeueFrom, ...item } = read;
        const isSame = requeueFrom === from || !item.isOpen;
        return isSame ? undefined : { ...item, ...(from && { requeueFrom: from }) };
      });
    },

    tasks: async (dispatchId) =>
      valueOf(
        await access.ask(process(), `tasks of ${dispatchId}`, () =>
          [...table.tasks.values()]
            .filter(({ key, isDone }) => key.dispatchId === dispatchId && !isDone && sabotage !== 'tasks-unseen')
            .map(({ key }) => key),
        ),
      ),

    async mark({ dispatchId, generation, tasks = 0 }, sweptAt) {
      await changeIf(deps, process(), 'mark', dispatchId, (item) =>
        item.isOpen ? { ...item, sweptAt, sweptGeneration: generation, sweptTasks: tasks } : undefined,
      );
    },

    settle: (read, rows, sweptAt, isLast) =>
      changeIf(deps, process(), 'settle', read.dispatchId, (item) => {
        const { generation, status, tasks, countsVersion } = item;
        const isSame = status === read.status && tasks === read.tasks && countsVersion === read.countsVersion;
        if (!isSame || generation !== read.generation) return undefined;
        const outcome = status === 'COMPLETED' && { outcome: outcomeOf(rows.counts) };
        const mark = { sweptAt, sweptGeneration: generation, sweptTasks: tasks, isOpen: item.isOpen && !isLast };
        return { ...item, ...resultOf(rows), ...outcome, ...mark };
      }),
  };
};

const resultOf = ({ counts, deliveries }: RowCounts) => ({
  counts,
  deliveries,
  needsAttention: needsAttention(counts, deliveries),
});

const overdueIn = (rows: readonly Row[], now: Instant): OverdueRow[] =>
  rows.flatMap(({ key, recipient }) => {
    if (recipient.status !== 'PENDING' && recipient.status !== 'PROCESSING') return [];
    const since = recipient.status === 'PENDING' ? recipient.nextAttemptAt : recipient.lease.until;
    return since <= now ? [{ key, since, status: recipient.status }] : [];
  });

const oldest = (overdue: readonly OverdueRow[], status: OpenRowStatus): RowsSeen['overdueSince'] => {
  const since = overdue.filter((row) => row.status === status).map((row) => row.since);
  return since.length === 0 ? {} : { [status]: Math.min(...since) };
};

const seenIn = (rows: readonly Row[], now: Instant, since: Instant): RowsSeen => {
  const overdue = overdueIn(rows, now);
  const sent = rows.flatMap(({ recipient }) =>
    recipient.status === 'SENT' && recipient.messageId !== undefined ? [recipient.sentAt] : [],
  );
  const isSince = ({ recipient }: Row): boolean => recipient.status === 'SENT' && recipient.sentAt >= since;
  const counted = (state: Row['delivery']): number => rows.filter((row) => isSince(row) && row.delivery === state).length;
  return {
    ...countRowsOf(rows),
    bounceStatistics: { sent: rows.filter(isSince).length, bounced: counted('bounced'), complained: counted('complained') },
    overdueSince: { ...oldest(overdue, 'PENDING'), ...oldest(overdue, 'PROCESSING') },
    ...(sent.length > 0 && { newestSentAt: Math.max(...sent) }),
  };
};

/** What others than people write. */
const marksOf = ({ counts, deliveries, countedAt, countsVersion, sweptAt, ...item }: DispatchItem) => ({
  ...(counts !== undefined && { counts }),
  ...(deliveries !== undefined && { deliveries }),
  ...(countedAt !== undefined && { countedAt }),
  ...(countsVersion !== undefined && { countsVersion }),
  ...(sweptAt !== undefined && { sweptAt }),
  ...(item.sweptGeneration !== undefined && { sweptGeneration: item.sweptGeneration }),
  ...(item.sweptTasks !== undefined && { sweptTasks: item.sweptTasks }),
});

/** Dispatches as people change them. */
export const createOperatePort = ({ table, access }: PortDeps, process: () => Process): OperateRepository => ({
  async find(dispatchId) {
    const item = valueOf(await access.ask(process(), `look at ${dispatchId}`, () => table.dispatches.get(dispatchId)));
    return item && { dispatch: item, tasks: item.tasks };
  },

  hasContent: () => Promise.resolve(true),

  async start({ dispatch, tasks }, next, task) {
    const { dispatchId } = dispatch;
    const key = { dispatchId, task: tasks + 1 };
    const effect = (): boolean => {
      const item = table.dispatches.get(dispatchId);
      if (item?.status !== dispatch.status || item.generation !== dispatch.generation || table.tasks.has(taskName(key)))
        return false;
      const kept = { isOpen: true, tasks: key.task, refusedCount: task.kind === 'resume' ? 0 : item.refusedCount };
      table.putDispatch({ ...next, ...marksOf(item), ...kept }, process());
      table.tasks.set(taskName(key), { ...task, key, isDone: false });
      table.append({ kind: 'task', key });
      return true;
    };
    const answer = await access.ask(process(), `${task.kind} ${dispatchId}`, effect, (first) => first);
    return answer.answered && answer.value;
  },
});

/** Tasks, and what they work on. */
export const createTaskPort = ({ table, access }: PortDeps, process: () => Process): TaskRepository => ({
  async find(key) {
    const task = valueOf(await access.ask(process(), `task ${taskName(key)}`, () => table.tasks.get(taskName(key))));
    return task?.isDone === false ? task : undefined;
  },

  dispatch: async (dispatchId) =>
    valueOf(await access.ask(process(), `dispatch ${dispatchId}`, () => table.dispatches.get(dispatchId))),

  async rows({ dispatchId, shards }, statuses, { shard, after }) {
    const page = valueOf(
      await access.ask(process(), `page of ${dispatchId}/${shard}`, () =>
        table
          .rowsOf(dispatchId, shard)
          .toSorted((a, b) => (a.applyId < b.applyId ? -1 : 1))
          .filter(({ applyId }) => after === undefined || applyId > after)
          .slice(0, ROWS_PER_PAGE + 1),
      ),
    );
    const rows = page.slice(0, ROWS_PER_PAGE);
    const last = rows.at(-1);
    const onShard = page.length > ROWS_PER_PAGE && last !== undefined ? { shard, after: last.applyId } : undefined;
    const next = onShard ?? (shard + 1 < shards ? { shard: shard + 1 } : undefined);
    return { rows: rows.filter(({ recipient }) => statuses.includes(recipient.status)), ...(next && { next }) };
  },

  wholeRows: () => Promise.reject(new Error('nothing is exported here')),

  async advance(key, { step: seen }, next, step) {
    const effect = (): boolean => {
      const task = table.tasks.get(taskName(key));
      if (task === undefined) return false;
      // Our own write, repeated, finds itself.
      if (task.step === step) return true;
      if (task.isDone || task.step !== seen) return false;
      table.tasks.set(taskName(key), { ...task, step, ...(next ? { cursor: next } : { isDone: true }) });
      if (!next && (task.kind === 'retry' || task.kind === 'resume'))
        table.follow({ kind: 'reopened', dispatchId: key.dispatchId });
      return true;
    };
    return valueOf(await access.ask(process(), `advance ${taskName(key)}`, effect));
  },
});
