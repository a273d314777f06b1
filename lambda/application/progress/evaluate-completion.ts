import { bounceStatisticsOf, type Dispatch, isSending, statisticsFrom, wasCounted } from '../../domain/dispatch/dispatch.ts';
import { exceededRate, untilRateExceeded } from '../../domain/dispatch/stop-rule.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { CountedDispatch, ProgressRepository } from '../ports/progress.ts';
import type { Clock, Sleep } from '../ports/system.ts';
import { finishIfDone, inspectDispatch, type Inspected, isOver, isWhole } from './inspect-dispatch.ts';

/** What came of a look at a dispatch, for logs and metrics. */
export interface CompletionSignal {
  readonly type: 'completed' | 'closed' | 'stopped' | 'recounted' | 'evaluation-failed';
  readonly dispatchId: string;
  readonly error?: unknown;
}

export interface EvaluateCompletionDeps {
  readonly dispatches: ProgressRepository;
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** Must not throw. */
  readonly observe: (signal: CompletionSignal) => void;
}

/** Counting all rows is dear, so it is done no more often for one dispatch. */
const COUNT_APART_MS = 2_000;
/** Dispatches whose last count is remembered. */
const REMEMBERED = 1_000;
/** Time that must be left to begin with a look at all rows, and to go on with it: a page of rows may take long to fail. */
const LOOK_NEEDS_MS = 25_000;
const PAGE_NEEDS_MS = 20_000;

interface Look {
  readonly at: Instant;
  /** Bounces and complaints from which on the dispatch may have to be stopped. */
  readonly bouncedFrom: number;
  readonly complainedFrom: number;
  readonly statisticsFrom: Instant;
}

export interface EvaluateCompletion {
  /** Looks at the rows of a dispatch whose counts say that it is at its end or that a rate is exceeded. Never throws. */
  readonly evaluate: (counted: CountedDispatch, remainingMs: () => number) => Promise<void>;
  /** The same for one of which something else may have been all that kept it from its end. */
  readonly evaluateStored: (dispatchId: string, remainingMs: () => number) => Promise<void>;
}

export const createEvaluateCompletion = (deps: EvaluateCompletionDeps): EvaluateCompletion => {
  const { dispatches, clock, sleep, observe } = deps;
  const looks = new Map<string, Look>();

  /** Whether the rows have to be counted to tell if a rate is exceeded. */
  const seemsExceeded = (dispatch: CountedDispatch['dispatch']): boolean => {
    const { dispatchId, status, counts, deliveries } = dispatch;
    const last = looks.get(dispatchId);
    if (!isSending(status) || exceededRate(bounceStatisticsOf(counts, deliveries)) === undefined) return false;
    if (last === undefined) return true;
    const hasMore = deliveries.bounced >= last.bouncedFrom || deliveries.complained >= last.complainedFrom;
    return clock() - last.at >= COUNT_APART_MS && (hasMore || statisticsFrom(dispatch) !== last.statisticsFrom);
  };

  const look = async ({ dispatch, openRows }: CountedDispatch, isExceeded: boolean, remainingMs: () => number): Promise<void> => {
    const { dispatchId, deliveries } = dispatch;
    // A dispatch that looks over may bring no more records, so its turn is waited for.
    const wait = Math.max(0, (looks.get(dispatchId)?.at ?? -Infinity) + COUNT_APART_MS - clock());
    if (remainingMs() - wait < LOOK_NEEDS_MS) return;
    if (wait > 0) await sleep(wait);
    const now = clock();
    const found = await dispatches.find(dispatchId);
    // Another shard of the stream was faster.
    if (found === undefined || found.status === 'STOPPED' || wasCounted(found)) return;
    // Between two recipients that a task reopens the dispatch may look over, and would be told of each time.
    const staysOpen = isSending(found.status) && (await dispatches.isReopening(dispatchId));
    if (staysOpen && !isExceeded) return;
    if (looks.size >= REMEMBERED) looks.clear();
    const looked = await inspectDispatch(dispatches, found, now, () => remainingMs() > PAGE_NEEDS_MS);
    const until = untilRateExceeded(looked.seen.bounceStatistics);
    looks.set(dispatchId, {
      at: clock(),
      bouncedFrom: deliveries.bounced + until.bounced,
      complainedFrom: deliveries.complained + until.complained,
      statisticsFrom: statisticsFrom(found),
    });
    const ended = staysOpen ? undefined : await finishIfDone(dispatches, found, looked, now);
    const type = ended ?? (await mend(dispatches, found, looked, openRows, now));
    if (type !== undefined) observe({ type, dispatchId });
  };

  // The sweeper will look at what could not be looked at.
  const orTell = (dispatchId: string, looking: Promise<void>): Promise<void> =>
    looking.catch((error: unknown) => {
      observe({ type: 'evaluation-failed', dispatchId, error });
    });

  const evaluate: EvaluateCompletion['evaluate'] = async (counted, remainingMs) => {
    const { dispatchId, status } = counted.dispatch;
    const inspects = counted.openRows <= 0 && (isSending(status) || status === 'CANCELLED');
    const isExceeded = seemsExceeded(counted.dispatch);
    if (inspects || isExceeded) await orTell(dispatchId, look(counted, isExceeded, remainingMs));
  };

  const evaluateStored = async (dispatchId: string, remainingMs: () => number): Promise<void> => {
    const found = await dispatches.find(dispatchId);
    const { counts, deliveries } = found ?? {};
    if (found === undefined || counts === undefined || deliveries === undefined) return;
    await evaluate({ dispatch: { ...found, counts, deliveries }, openRows: counts.PENDING + counts.PROCESSING }, remainingMs);
  };

  return { evaluate, evaluateStored: (dispatchId, remainingMs) => orTell(dispatchId, evaluateStored(dispatchId, remainingMs)) };
};

/** Stops a dispatch that is not over, or puts its counts right. */
const mend = async (
  dispatches: ProgressRepository,
  dispatch: Dispatch,
  looked: Inspected,
  openRows: number,
  now: Instant,
): Promise<CompletionSignal['type'] | undefined> => {
  const { seen } = looked;
  // If it could not be ended just now, nothing of it is left to be stopped all the same.
  const reason = isSending(dispatch.status) && !isOver(dispatch, looked) ? exceededRate(seen.bounceStatistics) : undefined;
  if (reason !== undefined && (await dispatches.stop(dispatch, { reason }, now))) return 'stopped';
  // Below none it is certain that records came twice; without a recount the dispatch would look over from now on. Otherwise
  // records are still to come, and to count now what they tell would count it twice.
  if (openRows >= 0 || !isWhole(dispatch, looked)) return undefined;
  return (await dispatches.recount(dispatch, seen, dispatch.lastProgressAt ?? now)) ? 'recounted' : undefined;
};
