import { applyCommand, checkCommand, type Command } from '../../domain/dispatch/command.ts';
import {
  addCounts,
  type Counts,
  type Dispatch,
  type DispatchStatus,
  isComplete,
  NO_COUNTS,
} from '../../domain/dispatch/dispatch.ts';
import { knownExpired, type PresentRows } from '../../domain/dispatch/expired-rows.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import { Unavailable } from '../ports/errors.ts';
import type { ReadRepository } from '../ports/queries.ts';
import type { Clock, Random, Sleep } from '../ports/system.ts';
import type { NewTask, OperateRepository } from '../ports/tasks.ts';
import type { Reader } from '../queries/read-dispatch.ts';

export interface OperateDispatchDeps {
  readonly dispatches: OperateRepository;
  readonly rows: Pick<ReadRepository, 'counts'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly sleep: Sleep;
}

export type CommandResult =
  /** Stored; the task carries it out. Asked for again, the first answer still holds. */
  | { readonly outcome: 'accepted'; readonly dispatch: Dispatch; readonly task: number; readonly isNew: boolean }
  | {
      readonly outcome: 'refused';
      readonly because: 'already-completed' | 'already-cancelled' | 'not-stopped' | 'expired';
      readonly status: DispatchStatus;
    }
  /** There is none that this person may change. */
  | { readonly outcome: 'not-found' };

export type OperateDispatch = (
  person: Reader,
  command: Command,
  dispatchId: string,
  /** What the task has to know beside its kind. */
  more?: Pick<NewTask, 'statuses' | 'word'>,
) => Promise<CommandResult>;

const TRIES = 6;
const RETRY_MS = 100;
const RETRY_AFTER_SECONDS = 1;

/** Changes a dispatch at once if that is asked for, and has a task go through its recipients. */
export const createOperateDispatch =
  (deps: OperateDispatchDeps): OperateDispatch =>
  async (person, command, dispatchId, more) => {
    const { dispatches, clock, random, sleep } = deps;
    let startedAt: Instant | undefined;
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const from = await dispatches.find(dispatchId);
      // Another admin's is as good as none.
      if (from === undefined || !(person.isOperator || from.dispatch.adminId === person.adminId)) return { outcome: 'not-found' };
      const { dispatch, tasks } = from;
      const permitted = checkCommand(command, await statusOf(deps, command, dispatch));
      // Our own change, of which the table's answer was lost.
      const isOurs = startedAt !== undefined && dispatch.resumedAt === startedAt;
      if (permitted === 'done-already' || isOurs) return { outcome: 'accepted', dispatch, task: tasks, isNew: false };
      if (permitted !== 'go-ahead') {
        const status = permitted === 'already-completed' ? 'COMPLETED' : dispatch.status;
        return { outcome: 'refused', because: permitted, status };
      }
      if (command === 'retry' && !(await dispatches.hasContent(dispatchId, clock()))) {
        return { outcome: 'refused', because: 'expired', status: dispatch.status };
      }
      const now = (startedAt = clock());
      const next = applyCommand(command, dispatch, now);
      const task = taskOf(command, dispatch, { requestedAt: now, requestedBy: person.adminId, ...more });
      if (await dispatches.start(from, next, task)) return { outcome: 'accepted', dispatch: next, task: tasks + 1, isNew: true };
      await sleep(RETRY_MS * tries * (0.5 + random() / 2));
    }
    throw new Unavailable('the dispatch', RETRY_AFTER_SECONDS);
  };

/** A dispatch whose rows are all final is shown as COMPLETED before the sweeper has come by, so it cannot be cancelled either. */
const statusOf = async ({ rows }: OperateDispatchDeps, command: Command, dispatch: Dispatch): Promise<DispatchStatus> => {
  if (command !== 'cancel' || (dispatch.status !== 'ACCEPTED' && dispatch.status !== 'IN_PROGRESS')) return dispatch.status;
  // Whatever is wrong with the rows, mails that must not go out can be cancelled.
  const isOver = await rows.counts(dispatch).then(
    ({ counts, frozen = counts }) => isComplete(dispatch.total, addCounts(counts, expiredOf(dispatch, { counts, frozen }))),
    () => false,
  );
  return isOver ? 'COMPLETED' : dispatch.status;
};

/** A dispatch that never ended is too young for rows to have expired. */
const expiredOf = (dispatch: Dispatch, present: PresentRows): Counts =>
  dispatch.frozenGeneration === undefined ? NO_COUNTS : knownExpired(dispatch, present);

const taskOf = (
  kind: Command,
  { faultCode, faultSince }: Dispatch,
  request: Omit<NewTask, 'kind' | 'faultCode' | 'faultSince'>,
): NewTask => ({
  kind,
  ...request,
  ...(kind === 'resume' && faultCode !== undefined && faultSince !== undefined && { faultCode, faultSince }),
});
