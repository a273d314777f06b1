import type { RecipientKey } from '../domain/recipient.ts';
import { FAILURES_TO_STOP, stopFor } from '../domain/stop-rule.ts';
import type { SendSignal } from './attempt-end.ts';
import type { Clock, DispatchRepository } from './ports.ts';

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
}

/** Counting all rows is dear, so it is done no more often. */
const COUNT_APART_MS = 2_000;

/** A rule for one sender environment. */
export const createStopRule = ({ dispatches, clock, observe }: StopRuleDeps): StopRule => {
  const countedAt = new Map<string, number>();

  const check = async (dispatchId: string, keys: readonly RecipientKey[]): Promise<void> => {
    const added = await dispatches.addRefused(dispatchId, keys.length);
    if (added === undefined || added.refused < FAILURES_TO_STOP) return;
    if (clock() - (countedAt.get(dispatchId) ?? 0) < COUNT_APART_MS) return;
    countedAt.set(dispatchId, clock());
    const stop = stopFor(await dispatches.finalRows(added.dispatch));
    const [key] = keys;
    if (stop === undefined || key === undefined) return;
    if (await dispatches.stop(added.dispatch, stop, clock()))
      observe({ type: 'stopped', key, ...(stop.faultCode !== undefined && { code: stop.faultCode }) });
  };

  return {
    async refused(keys) {
      for (const [dispatchId, ofOne] of Map.groupBy(keys, (key) => key.dispatchId)) {
        // The mails are recorded already: trouble here only delays the stop to the next refusal.
        await check(dispatchId, ofOne).catch(() => undefined);
      }
    },
  };
};
