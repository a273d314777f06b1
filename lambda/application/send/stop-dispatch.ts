import type { Dispatch } from '../../domain/dispatch/dispatch.ts';
import { FAILURES_TO_STOP, failuresUntilStop, stopFor, type StopReason } from '../../domain/dispatch/stop-rule.ts';
import type { RecipientKey } from '../../domain/recipient/recipient.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { DispatchRepository } from '../ports/dispatches.ts';
import type { Clock } from '../ports/system.ts';
import type { SendSignal } from './finished-attempt.ts';

export interface StopRuleDeps {
  readonly dispatches: DispatchRepository;
  readonly clock: Clock;
  /** Must not throw. */
  readonly observe: (signal: SendSignal) => void;
}

/** Looks after dispatches whose mails are refused. */
export interface StopRule {
  /** Counts mails that were refused for good, and stops a dispatch of which most are. Never throws. */
  refused(keys: readonly RecipientKey[]): Promise<void>;
  /** Stops a dispatch for a reason that was found elsewhere. Its rows stay as they are. Never throws. */
  stop(dispatchId: string, reason: StopReason, code: string): Promise<void>;
}

/** Counting all rows is dear, so it is done no more often, and only when it can come to something. */
const COUNT_APART_MS = 2_000;

interface Counted {
  readonly at: Instant;
  /** Refused mails from which on the dispatch may have to be stopped. */
  readonly nextAt: number;
  readonly resumedAt: Instant | undefined;
}

/** A rule for one sender environment. */
export const createStopRule = ({ dispatches, clock, observe }: StopRuleDeps): StopRule => {
  const counted = new Map<string, Counted>();

  const isWorthCounting = ({ dispatchId, resumedAt }: Dispatch, refused: number): boolean => {
    const last = counted.get(dispatchId);
    if (refused < FAILURES_TO_STOP || last === undefined) return refused >= FAILURES_TO_STOP;
    return clock() - last.at >= COUNT_APART_MS && (refused >= last.nextAt || resumedAt !== last.resumedAt);
  };

  const check = async (dispatchId: string, keys: readonly RecipientKey[]): Promise<void> => {
    const added = await dispatches.addRefused(dispatchId, keys.length);
    if (added === undefined || !isWorthCounting(added.dispatch, added.refused)) return;
    const rows = await dispatches.finalRows(added.dispatch);
    const { resumedAt } = added.dispatch;
    counted.set(dispatchId, { at: clock(), nextAt: added.refused + failuresUntilStop(rows), resumedAt });
    const stop = stopFor(rows);
    const [key] = keys;
    if (stop === undefined || key === undefined) return;
    if (await dispatches.stop(added.dispatch, stop, clock()))
      observe({ type: 'stopped', key, ...(stop.faultCode !== undefined && { code: stop.faultCode }) });
  };

  return {
    async stop(dispatchId, reason, code) {
      try {
        // Adds nothing: it is read as it is now, and only if it is being sent.
        const added = await dispatches.addRefused(dispatchId, 0);
        if (added === undefined || !(await dispatches.stop(added.dispatch, { reason, faultCode: code }, clock()))) return;
        observe({ type: 'stopped', dispatchId, code });
      } catch {
        // The next refusals find the same.
      }
    },

    async refused(keys) {
      for (const [dispatchId, ofOne] of Map.groupBy(keys, (key) => key.dispatchId)) {
        // The mails are recorded already: trouble here only delays the stop to the next refusal.
        await check(dispatchId, ofOne).catch(() => undefined);
      }
    },
  };
};
