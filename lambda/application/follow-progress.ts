import type { RowCounts } from '../domain/dispatch.ts';
import type { Instant } from '../domain/instant.ts';
import { newsOf, type Told } from '../domain/news.ts';
import { addRowCounts, type Counted, deltaOf, isOfAttempt, NO_CHANGE } from '../domain/progress.ts';
import { createJudge, type JudgeDeps, type Judgement } from './judge-progress.ts';
import type { CountedDispatch, NewsBoard } from './progress-ports.ts';

/** A record of the stream in the words of progress. */
export type ProgressRecord =
  | { readonly kind: 'recipient'; readonly dispatchId: string; readonly before: Counted; readonly after: Counted }
  | { readonly kind: 'dispatch'; readonly before: Told; readonly after: Told; readonly at: Instant }
  /** Nothing to count or to tell. */
  | { readonly kind: 'other' }
  /** No version of this code can read it. */
  | { readonly kind: 'poison' };

export type ProgressSignal =
  | Judgement
  | { readonly type: 'told' | 'not-told'; readonly count: number }
  | { readonly type: 'not-counted' | 'not-begun'; readonly dispatchId: string; readonly error: unknown };

export interface FollowProgressDeps extends Omit<JudgeDeps, 'observe'> {
  readonly news: NewsBoard;
  /** Must not throw. */
  readonly observe: (signal: ProgressSignal) => void;
}

/** Time that must be left for a look at all rows of a dispatch. */
const JUDGE_NEEDS_MS = 15_000;

/**
 * Counts what changed, tells what is news and looks after dispatches that seem to be at their end.
 * @returns the index of the first record that is not handled yet: it and all after it must come again; undefined when all are.
 * What was counted of those is then counted twice, which a recount puts right.
 */
export const createFollowProgress = (deps: FollowProgressDeps) => {
  const judge = createJudge(deps);
  return async (records: readonly ProgressRecord[], remainingMs: () => number): Promise<number | undefined> => {
    // News first: what is counted before it is told would be counted again when it comes again.
    const untold = await tell(deps, records);
    const { counted, firstOpen } = await count(deps, records.slice(0, untold));
    for (const dispatch of counted) if (remainingMs() > JUDGE_NEEDS_MS) await judge(dispatch);
    return firstOpen ?? untold;
  };
};

/** @returns the index of the first record whose news was not taken */
const tell = async (
  { news: board, observe }: FollowProgressDeps,
  records: readonly ProgressRecord[],
): Promise<number | undefined> => {
  const news = records.flatMap((record, i) =>
    record.kind === 'dispatch' ? newsOf(record.before, record.after, record.at).map((item) => ({ i, item })) : [],
  );
  if (news.length === 0) return undefined;
  const taken = await board.publish(news.map(({ item }) => item));
  const open = news.filter((_, n) => taken[n] !== true);
  if (news.length > open.length) observe({ type: 'told', count: news.length - open.length });
  if (open.length > 0) observe({ type: 'not-told', count: open.length });
  return open[0]?.i;
};

interface Change {
  readonly dispatchId: string;
  /** Index of its first record. */
  readonly first: number;
  readonly delta: RowCounts;
  /** A worker took one of its recipients. */
  readonly isBegun: boolean;
}

/** One change for each dispatch, in the order of their first records. */
const changesIn = (records: readonly ProgressRecord[]): Change[] => {
  const changes = new Map<string, Change>();
  for (const [i, record] of records.entries()) {
    if (record.kind !== 'recipient') continue;
    const { dispatchId, before, after } = record;
    const { first, delta, isBegun } = changes.get(dispatchId) ?? { first: i, delta: NO_CHANGE, isBegun: false };
    const sum = addRowCounts(delta, deltaOf(before, after));
    changes.set(dispatchId, { dispatchId, first, delta: sum, isBegun: isBegun || isOfAttempt(before, after) });
  }
  return [...changes.values()];
};

/** Stops at the first dispatch that cannot be counted: its records come again, and those of the dispatches after it. */
const count = async (
  deps: FollowProgressDeps,
  records: readonly ProgressRecord[],
): Promise<{ readonly counted: readonly CountedDispatch[]; readonly firstOpen: number | undefined }> => {
  const { dispatches, clock, observe } = deps;
  const counted: CountedDispatch[] = [];
  for (const { dispatchId, first, delta, isBegun } of changesIn(records)) {
    try {
      const added = await dispatches.add(dispatchId, delta, clock());
      if (added === undefined) continue;
      counted.push(added);
      if (isBegun && added.dispatch.status === 'ACCEPTED') await begin(deps, dispatchId);
    } catch (error) {
      observe({ type: 'not-counted', dispatchId, error });
      return { counted, firstOpen: first };
    }
  }
  return { counted, firstOpen: undefined };
};

/** Both states are treated alike, so trouble here is no reason to count again. */
const begin = async ({ dispatches, observe }: FollowProgressDeps, dispatchId: string): Promise<void> => {
  await dispatches.begin(dispatchId).catch((error: unknown) => {
    observe({ type: 'not-begun', dispatchId, error });
  });
};
