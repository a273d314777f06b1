import { type Dispatch, isSending } from '../domain/dispatch.ts';
import type { Instant } from '../domain/instant.ts';
import { areBad, bouncesUntilBad } from '../domain/stop-rule.ts';
import { endIfOver, type Looked, lookOver } from './end-dispatch.ts';
import type { Clock, Sleep } from './ports.ts';
import type { CountedDispatch, ProgressRepository } from './progress-ports.ts';

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

interface Look {
  readonly at: Instant;
  /** Bounces from which on the dispatch may have to be stopped. */
  readonly bouncedFrom: number;
  readonly resumedAt: Instant | undefined;
}

/** Looks at the rows of a dispatch whose counts say that it is at its end or that too many mails bounce. Never throws. */
export const createJudge = (deps: JudgeDeps): ((counted: CountedDispatch) => Promise<void>) => {
  const { clock, sleep, observe } = deps;
  const looks = new Map<string, Look>();

  const looksBad = ({ dispatchId, status, counts, deliveries, resumedAt }: CountedDispatch['dispatch']): boolean => {
    const last = looks.get(dispatchId);
    if (!isSending(status) || !areBad({ sent: counts.SENT, bounced: deliveries.bounced })) return false;
    if (last === undefined) return true;
    return clock() - last.at >= COUNT_APART_MS && (deliveries.bounced >= last.bouncedFrom || resumedAt !== last.resumedAt);
  };

  return async ({ dispatch, openRows }) => {
    const { dispatchId, status, deliveries } = dispatch;
    const looksOver = openRows <= 0 && (isSending(status) || status === 'CANCELLED');
    if (!looksOver && !looksBad(dispatch)) return;
    try {
      // A dispatch that looks over may bring no more records, so its turn is waited for.
      const wait = (looks.get(dispatchId)?.at ?? -Infinity) + COUNT_APART_MS - clock();
      if (wait > 0) await sleep(wait);
      if (looks.size >= REMEMBERED) looks.clear();
      const now = clock();
      const found = await deps.dispatches.find(dispatchId);
      if (found === undefined) return;
      const looked = await lookOver(deps.dispatches, found, now);
      const bouncedFrom = deliveries.bounced + bouncesUntilBad(looked.seen.signs);
      looks.set(dispatchId, { at: clock(), bouncedFrom, resumedAt: found.resumedAt });
      const type = await judge(deps.dispatches, found, looked, openRows, now);
      if (type !== undefined) observe({ type, dispatchId });
    } catch (error) {
      // The sweeper will look at it.
      observe({ type: 'judge-failed', dispatchId, error });
    }
  };
};

const judge = async (
  dispatches: ProgressRepository,
  dispatch: Dispatch,
  looked: Looked,
  openRows: number,
  now: Instant,
): Promise<Judgement['type'] | undefined> => {
  const { seen } = looked;
  // Between two recipients that a task reopens the dispatch may look over, and would be told of each time.
  const staysOpen = isSending(dispatch.status) && (await dispatches.isReopening(dispatch.dispatchId));
  const ended = staysOpen ? undefined : await endIfOver(dispatches, dispatch, looked, now);
  if (ended !== undefined) return ended;
  if (isSending(dispatch.status) && areBad(seen.signs) && (await dispatches.stop(dispatch, { reason: 'bad-signs' }, now)))
    return 'stopped';
  // Below none it is certain that records came twice; without a recount the dispatch would look over from now on. Otherwise
  // records are still to come, and to count now what they tell would count it twice.
  return openRows < 0 && (await dispatches.recount(dispatch, seen, dispatch.lastProgressAt ?? now)) ? 'recounted' : undefined;
};
