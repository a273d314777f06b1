import { type Dispatch, isSending } from '../../domain/dispatch/dispatch.ts';
import type { RestoredRepository, TableIdentity } from '../ports/control.ts';
import { Unavailable } from '../ports/errors.ts';
import type { Clock } from '../ports/system.ts';
import type { SweepStep } from './sweep-step.ts';

export interface StopRestoredDeps {
  readonly identity: TableIdentity;
  readonly dispatches: RestoredRepository;
  readonly clock: Clock;
  /** Must not throw. */
  readonly observe: (report: RestoreReport) => void;
}

/** What a pass found in a restored table. */
export interface RestoreReport {
  readonly stopped: number;
  /** False: the next pass goes on, and senders wait until then. */
  readonly finished: boolean;
}

/** Left for what follows in the pass. */
const RESERVE_MS = 20_000;

/**
 * A step of each pass, paused or not. A restored table says of mails sent after the restore point that they are still to be
 * sent, and no age tells them apart: everything that could be sent is stopped until a person decides. Senders wait until then.
 */
export const createStopRestored =
  (deps: StopRestoredDeps): SweepStep =>
  async (remainingMs) => {
    const { identity, observe } = deps;
    const origin = await identity.origin();
    if (origin === 'own') return;
    if (origin === 'unavailable') throw new Unavailable('the table', 1);
    if (origin === 'unrecorded') {
      await identity.adopt();
      return;
    }
    let stopped = 0;
    let more: number | 'no-time';
    do {
      more = await stopListed(deps, () => remainingMs() > RESERVE_MS);
      if (more !== 'no-time') stopped += more;
      // A task under way may have reopened one that was passed over: the last look finds nothing.
    } while (more !== 'no-time' && more > 0);
    const finished = more !== 'no-time';
    if (finished) await identity.adopt();
    observe({ stopped, finished });
  };

/** Stops what could be sent. @returns how many; `no-time`: some may be left */
const stopListed = async (deps: StopRestoredDeps, hasTime: () => boolean): Promise<number | 'no-time'> => {
  let stopped = 0;
  for await (const dispatch of deps.dispatches.open()) {
    if (!hasTime()) return 'no-time';
    // Senders cannot read an unreadable one either.
    if (dispatch !== 'unreadable' && (await stop(deps, dispatch))) stopped += 1;
  }
  return stopped;
};

const stop = async ({ dispatches, clock }: StopRestoredDeps, dispatch: Dispatch): Promise<boolean> => {
  const { status, dispatchId } = dispatch;
  // A retry that was asked for before the restore point may have been carried out after it.
  const mayReopen = status === 'COMPLETED' && (await dispatches.tasks(dispatchId)).length > 0;
  return (isSending(status) || mayReopen) && dispatches.stopRestored(dispatch, clock());
};
