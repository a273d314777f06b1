import type { Instant } from '../domain/instant.ts';
import type { Hold } from '../domain/witness.ts';
import type { FeedbackSignal } from './apply-event.ts';
import type { Clock, WitnessRepository } from './ports.ts';

export interface TellWitnessDeps {
  readonly witness: Pick<WitnessRepository, 'read' | 'hold' | 'release' | 'moveMark'>;
  readonly clock: Clock;
  /** Must not throw. */
  readonly observe: (signal: FeedbackSignal) => void;
}

/** What came of a batch of events. */
export interface BatchResult {
  /** Of events that could not be applied. */
  readonly stuck: readonly Hold[];
  /** Leases of attempts about which nothing is stuck any more. */
  readonly settled: readonly string[];
  /** When the mails were sent whose events were applied. */
  readonly heard: readonly Instant[];
}

/** A mark that moves less than this is not worth a write: so there is about one a second, however many events come. */
const MARK_STEP_MS = 1_000;

/**
 * Tells the witness what was heard, in this order: a sender that finds the mark beyond its attempt must also find the hold
 * of an event that is stuck.
 */
export const tellWitness = async (deps: TellWitnessDeps, { stuck, settled, heard }: BatchResult): Promise<void> => {
  const { witness, clock, observe } = deps;
  const isHeld = await holdAll(deps, stuck);
  try {
    if (settled.length === 0 && heard.length === 0) return;
    const seen = await witness.read();
    if (seen !== 'unavailable') {
      const leases = seen.holds.flatMap(({ lease }) => (lease !== undefined && settled.includes(lease) ? [lease] : []));
      if (leases.length > 0) await witness.release(leases);
    }
    // A clock that runs ahead must not vouch for mails that are still to be sent.
    const newest = Math.min(clock(), Math.max(...heard));
    const mark = seen === 'unavailable' ? undefined : seen.mark;
    if (isHeld && heard.length > 0 && (mark === undefined || newest - mark >= MARK_STEP_MS)) await witness.moveMark(newest);
  } catch (error) {
    observe({ type: 'witness-trouble', error });
  }
};

const holdAll = async ({ witness, clock, observe }: TellWitnessDeps, stuck: readonly Hold[]): Promise<boolean> => {
  if (stuck.length === 0) return true;
  try {
    if (await witness.hold(stuck, clock())) return true;
    observe({ type: 'not-held' });
  } catch (error) {
    observe({ type: 'not-held', error });
  }
  return false;
};
