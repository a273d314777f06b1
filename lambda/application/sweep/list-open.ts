import { type Dispatch, wasCounted } from '../../domain/dispatch/dispatch.ts';
import type { OpenDispatchRepository, SweepState } from '../ports/progress.ts';
import type { Clock } from '../ports/system.ts';
import { finishedDueAt } from './recover-finished.ts';

export interface ListDeps {
  readonly dispatches: Pick<OpenDispatchRepository, 'open'>;
  readonly clock: Clock;
  /** A dispatch counts as stuck when nothing of it changed for this long. */
  readonly stuckAfterMs: number;
  /** The rows of one dispatch are looked at no more often than this. */
  readonly revisitMs: number;
}

/** A dispatch with what the sweeper knows of it. */
export type Open = Dispatch & SweepState;

/** The open dispatches, by what is to be done about them. */
export interface OpenList {
  /** To be inspected, the one that waits longest first. */
  readonly due: readonly Open[];
  /** Inspected not long ago. */
  readonly notDue: readonly Open[];
  /** Finished, to be counted once more. */
  readonly finished: readonly Open[];
  readonly unreadable: number;
  /** False when time ran out. */
  readonly isComplete: boolean;
}

/** Reads the open dispatches, without their rows. */
export const listOpen = async (deps: ListDeps, atStart: boolean, hasTime: () => boolean): Promise<OpenList> => {
  const due: Open[] = [];
  const notDue: Open[] = [];
  const finished: Open[] = [];
  let unreadable = 0;
  let isComplete = true;
  for await (const dispatch of deps.dispatches.open()) {
    if (!hasTime()) {
      isComplete = false;
      break;
    }
    if (dispatch === 'unreadable') unreadable += 1;
    else if (wasCounted(dispatch)) {
      if (atStart || finishedDueAt(deps, dispatch) <= deps.clock()) finished.push(dispatch);
    } else if (atStart || isDue(deps, dispatch)) due.push(dispatch);
    else notDue.push(dispatch);
  }
  return {
    due: due.sort((a, b) => inspectedAt(a) - inspectedAt(b)),
    notDue,
    finished: finished.sort((a, b) => (a.sweptAt ?? 0) - (b.sweptAt ?? 0)),
    unreadable,
    isComplete,
  };
};

/** When its rows were last looked at; there was nothing to see before accept. */
export const inspectedAt = ({ sweptAt, createdAt }: Open): number => sweptAt ?? createdAt;

/** A stopped one waits for a person, maybe for long: it has little to look after. */
const STOPPED_APART = 4;

const isDue = ({ clock, revisitMs }: ListDeps, dispatch: Open): boolean =>
  inspectedAt(dispatch) + revisitMs * (dispatch.status === 'STOPPED' ? STOPPED_APART : 1) <= clock();
