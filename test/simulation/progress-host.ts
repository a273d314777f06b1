import { Unavailable } from '../../lambda/application/ports/errors.ts';
import type { CountedDispatch, ProgressRepository } from '../../lambda/application/ports/progress.ts';
import { createFollowProgress, type ProgressRecord } from '../../lambda/application/progress/follow-progress.ts';
import { type Dispatch, type RowCounts, wasCounted } from '../../lambda/domain/dispatch/dispatch.ts';
import { addRowCounts, changesCounts, changesDeliveries, NO_CHANGE } from '../../lambda/domain/dispatch/progress.ts';
import { changeIf, createEndingPort } from './dispatch-ports.ts';
import type { PortDeps } from './ports.ts';
import type { Host, Process } from './scheduler.ts';
import { valueOf } from './table-access.ts';

const LIMIT_MS = 60_000;
const RECORDS_PER_BATCH = 20;
/** How many records before the last ones come a second time, at most. */
const MOST_REPLAYED = 30;

const versionAfter = ({ countsVersion = 0 }: Dispatch) => ({ countsVersion: countsVersion + 1 });

const keptOf = ({ counts, deliveries }: Dispatch): RowCounts | undefined => counts && deliveries && { counts, deliveries };

/** Dispatches as progress counts them. */
const createProgressPort = (deps: PortDeps, process: () => Process): ProgressRepository => ({
  ...createEndingPort(deps, process),

  async add(dispatchId, delta, now) {
    const effect = (): CountedDispatch | undefined => {
      const { sabotage } = deps;
      const item = deps.table.dispatches.get(dispatchId);
      const kept = item && keptOf(item);
      if (item === undefined || kept === undefined) return undefined;
      if (wasCounted(item) && sabotage !== 'late-states-counted') {
        const late = addRowCounts(kept, { ...NO_CHANGE, deliveries: delta.deliveries });
        if (changesDeliveries(delta))
          deps.table.putDispatch(
            {
              ...item,
              ...late,
              countedAt: now,
              ...versionAfter(item),
              isOpen: item.isOpen || sabotage !== 'late-deliveries-left',
            },
            process(),
          );
        return undefined;
      }
      const rows = addRowCounts(kept, delta);
      const added = {
        ...item,
        ...rows,
        countedAt: now,
        ...versionAfter(item),
        ...(changesCounts(delta) && { lastProgressAt: now }),
      };
      deps.table.putDispatch(added, process());
      return { dispatch: added, openRows: rows.counts.PENDING + rows.counts.PROCESSING };
    };
    // Nothing here is an error for ever, which would be left to the sweeper.
    return deps.access
      .ask(process(), `count ${dispatchId}`, effect)
      .then(valueOf)
      .catch((error: unknown) => {
        throw new Unavailable('the table', 1, error);
      });
  },

  async begin(dispatchId) {
    await changeIf(deps, process(), 'begin', dispatchId, (item) =>
      item.status === 'ACCEPTED' ? { ...item, status: 'IN_PROGRESS' } : undefined,
    );
  },

  isReopening: async (dispatchId) =>
    valueOf(
      await deps.access.ask(process(), `reopening ${dispatchId}`, () =>
        [...deps.table.tasks.values()].some(
          ({ key, kind, isDone }) => key.dispatchId === dispatchId && !isDone && (kind === 'retry' || kind === 'resume'),
        ),
      ),
    ),

  find: async (dispatchId) =>
    valueOf(await deps.access.ask(process(), `find ${dispatchId}`, () => deps.table.dispatches.get(dispatchId))),
});

/** Follows the table's changes, in order, each at least once and some of them twice. */
export const createProgress = (deps: PortDeps, host: Host) => {
  const { scheduler, dice, table, plan } = deps;
  let checkpoint = 0;
  let isBusy = false;
  let isAwake = false;
  let current: Process | undefined;
  const own = (): Process => {
    if (current === undefined) throw new Error('nothing runs here');
    return current;
  };
  const follow = createFollowProgress({
    dispatches: createProgressPort(deps, own),
    news: {
      publish: (news) =>
        Promise.resolve(news.map(() => (scheduler.now() >= plan.calmAt || !dice.chance(0.05) ? 'taken' : { code: 'Throttled' }))),
    },
    clock: () => scheduler.now() + host.skewMs,
    sleep: (ms) => scheduler.sleep(own(), ms),
    observe: () => undefined,
  });

  const progress = {
    isDone: () => !isBusy && checkpoint === table.changes.length,
    look: (): void => {
      isAwake = false;
      if (isBusy || checkpoint === table.changes.length) return;
      isBusy = true;
      const records: readonly ProgressRecord[] = table.changes.slice(checkpoint, checkpoint + dice.whole(1, RECORDS_PER_BATCH));
      scheduler.start(
        host,
        LIMIT_MS,
        (process) => {
          current = process;
          return follow(records, () => process.deadline - scheduler.now());
        },
        (end) => {
          isBusy = false;
          if (end.how === 'returned') checkpoint += end.value ?? records.length;
          // Somebody replays the stream.
          if (scheduler.now() < plan.calmAt && dice.chance(0.02))
            checkpoint = Math.max(0, checkpoint - dice.whole(1, MOST_REPLAYED));
          progress.wake();
        },
      );
    },
    /** The stream is read a little later than it is written. */
    wake: (): void => {
      if (isAwake) return;
      isAwake = true;
      scheduler.at(scheduler.now() + dice.whole(50, 1_000), progress.look);
    },
  };
  return progress;
};
