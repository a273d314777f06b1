import { bounceStatisticsOf, type Dispatch, isSending, statisticsFrom, wasCounted } from '../../domain/dispatch/dispatch.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import { exceededRate, untilRateExceeded } from '../../domain/dispatch/stop-rule.ts';
import { endIfOver, isOver, isWhole, type Looked, lookOver } from './end-dispatch.ts';
import type { Clock, Sleep } from '../ports/ports.ts';
import type { CountedDispatch, ProgressRepository } from '../ports/progress-ports.ts';

/** What came of a look at a dispatch, for logs and metrics. */
export interface Judgement {
  readonly type: 'completed' | 'closed' | 'stopped' | 'recounted' | 'judge-failed';
  readonly dispatchId: string;
  readonly error?: unknown;
}

export interface JudgeDeps {
  readonly dispatches: ProgressRepository;
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** Must not throw. */
  readonly observe: (judgement: Judgement) => void;
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

export interface Judge {
  /** Looks at the rows of a dispatch whose counts say that it is at its end or that a rate is exceeded. Never throws. */
  readonly judge: (counted: CountedDispatch, remainingMs: () => number) => Promise<void>;
  /** The same for one of which something else may have been all that kept it from its end. */
  readonly judgeAsKept: (dispatchId: string, remainingMs: () => number) => Promise<void>;
}

export const createJudge = (deps: JudgeDeps): Judge => {
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
    const looked = await lookOver(dispatches, found, now, () => remainingMs() > PAGE_NEEDS_MS);
    const until = untilRateExceeded(looked.seen.bounceStatistics);
    looks.set(dispatchId, {
      at: clock(),
      bouncedFrom: deliveries.bounced + until.bounced,
      complainedFrom: deliveries.complained + until.complained,
      statisticsFrom: statisticsFrom(found),
    });
    const ended = staysOpen ? undefined : await endIfOver(dispatches, found, looked, now);
    const type = ended ?? (await mend(dispatches, found, looked, openRows, now));
    if (type !== undefined) observe({ type, dispatchId });
  };

  // The sweeper will look at what could not be looked at.
  const orTell = (dispatchId: string, looking: Promise<void>): Promise<void> =>
    looking.catch((error: unknown) => {
      observe({ type: 'judge-failed', dispatchId, error });
    });

  const judge: Judge['judge'] = async (counted, remainingMs) => {
    const { dispatchId, status } = counted.dispatch;
    const looksOver = counted.openRows <= 0 && (isSending(status) || status === 'CANCELLED');
    const isExceeded = seemsExceeded(counted.dispatch);
    if (looksOver || isExceeded) await orTell(dispatchId, look(counted, isExceeded, remainingMs));
  };

  const judgeAsKept = async (dispatchId: string, remainingMs: () => number): Promise<void> => {
    const found = await dispatches.find(dispatchId);
    const { counts, deliveries } = found ?? {};
    if (found === undefined || counts === undefined || deliveries === undefined) return;
    await judge({ dispatch: { ...found, counts, deliveries }, openRows: counts.PENDING + counts.PROCESSING }, remainingMs);
  };

  return { judge, judgeAsKept: (dispatchId, remainingMs) => orTell(dispatchId, judgeAsKept(dispatchId, remainingMs)) };
};

/** Stops a dispatch that is not over, or puts its counts right. */
const mend = async (
  dispatches: ProgressRepository,
  dispatch: Dispatch,
  looked: Looked,
  openRows: number,
  now: Instant,
): Promise<Judgement['type'] | undefined> => {
  const { seen } = looked;
  // If it could not be ended just now, nothing of it is left to be stopped all the same.
  const reason = isSending(dispatch.status) && !isOver(dispatch, looked) ? exceededRate(seen.bounceStatistics) : undefined;
  if (reason !== undefined && (await dispatches.stop(dispatch, { reason }, now))) return 'stopped';
  // Below none it is certain that records came twice; without a recount the dispatch would look over from now on. Otherwise
  // records are still to come, and to count now what they tell would count it twice.
  if (openRows >= 0 || !isWhole(dispatch, looked)) return undefined;
  return (await dispatches.recount(dispatch, seen, dispatch.lastProgressAt ?? now)) ? 'recounted' : undefined;
};
