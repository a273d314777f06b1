import type { RowCounts } from '../../domain/dispatch/dispatch.ts';
import { eventsOf, type EventSubject } from '../../domain/dispatch/dispatch-event.ts';
import {
  addRowCounts,
  changesCounts,
  changesDeliveries,
  type Counted,
  deltaOf,
  isOfAttempt,
  NO_CHANGE,
} from '../../domain/dispatch/progress.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import { Unavailable } from '../ports/errors.ts';
import type { CountedDispatch, EventPublisher } from '../ports/progress.ts';
import { type CompletionSignal, createEvaluateCompletion, type EvaluateCompletionDeps } from './evaluate-completion.ts';

/** A record of the stream in the words of progress. */
export type ProgressRecord =
  | { readonly kind: 'recipient'; readonly dispatchId: string; readonly before: Counted; readonly after: Counted }
  | { readonly kind: 'dispatch'; readonly before: EventSubject; readonly after: EventSubject; readonly at: Instant }
  /** A task that reopened recipients is done. */
  | { readonly kind: 'reopened'; readonly dispatchId: string }
  /** Nothing to count or to tell. */
  | { readonly kind: 'other' }
  /** No version of this code can read it. */
  | { readonly kind: 'malformed' };

export type ProgressSignal =
  | CompletionSignal
  | { readonly type: 'published'; readonly count: number }
  | { readonly type: 'not-published'; readonly count: number; readonly codes: readonly string[] }
  | { readonly type: 'not-counted' | 'uncountable' | 'not-begun'; readonly dispatchId: string; readonly error: unknown };

export interface FollowProgressDeps extends Omit<EvaluateCompletionDeps, 'observe'> {
  readonly news: EventPublisher;
  /** Must not throw. */
  readonly observe: (signal: ProgressSignal) => void;
}

/**
 * Counts what changed, tells what is news and looks after dispatches that seem to be at their end.
 * @returns the index of the first record that is not handled yet: it and all after it must come again; undefined when all are.
 * What was counted of those is then counted twice, which a recount puts right.
 */
export const createFollowProgress = (deps: FollowProgressDeps) => {
  const { evaluate, evaluateStored } = createEvaluateCompletion(deps);
  return async (records: readonly ProgressRecord[], remainingMs: () => number): Promise<number | undefined> => {
    // News first: what is counted before it is told would be counted again when it comes again.
    const unpublished = await tell(deps, records);
    const { counted, firstOpen } = await count(deps, records.slice(0, unpublished));
    for (const dispatch of counted) await evaluate(dispatch, remainingMs);
    for (const dispatchId of reopenedIn(records, counted)) await evaluateStored(dispatchId, remainingMs);
    return firstOpen ?? unpublished;
  };
};

/** Dispatches that no task keeps open any more, without those that are counted here anyway. */
const reopenedIn = (records: readonly ProgressRecord[], counted: readonly CountedDispatch[]): ReadonlySet<string> => {
  const others = new Set(counted.map(({ dispatch }) => dispatch.dispatchId));
  return new Set(
    records.flatMap((record) => (record.kind === 'reopened' && !others.has(record.dispatchId) ? [record.dispatchId] : [])),
  );
};

/** @returns the index of the first record whose news was not taken */
const tell = async (
  { news: board, observe }: FollowProgressDeps,
  records: readonly ProgressRecord[],
): Promise<number | undefined> => {
  const news = records.flatMap((record, i) =>
    record.kind === 'dispatch' ? eventsOf(record.before, record.after, record.at).map((item) => ({ i, item })) : [],
  );
  if (news.length === 0) return undefined;
  const results = await board.publish(news.map(({ item }) => item));
  const codes = results.flatMap((result) => (result === 'taken' ? [] : [result.code]));
  if (news.length > codes.length) observe({ type: 'published', count: news.length - codes.length });
  if (codes.length > 0) observe({ type: 'not-published', count: codes.length, codes: [...new Set(codes)] });
  return news.find((_, n) => results[n] !== 'taken')?.i;
};

interface Change {
  readonly dispatchId: string;
  /** Index of its first record. */
  readonly first: number;
  readonly delta: RowCounts;
  /** A worker took one of its recipients. */
  readonly isBegun: boolean;
}

/** One change for each dispatch, in the order of their first records; none for one that stands as before. */
const changesIn = (records: readonly ProgressRecord[]): Change[] => {
  const changes = new Map<string, Change>();
  for (const [i, record] of records.entries()) {
    if (record.kind !== 'recipient') continue;
    const { dispatchId, before, after } = record;
    const { first, delta, isBegun } = changes.get(dispatchId) ?? { first: i, delta: NO_CHANGE, isBegun: false };
    const sum = addRowCounts(delta, deltaOf(before, after));
    changes.set(dispatchId, { dispatchId, first, delta: sum, isBegun: isBegun || isOfAttempt(before, after) });
  }
  return [...changes.values()].filter(({ delta }) => changesCounts(delta) || changesDeliveries(delta));
};

/** Stops at the first dispatch that cannot be counted now: its records come again, and those of the dispatches after it. */
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
      const passes = error instanceof Unavailable;
      observe({ type: passes ? 'not-counted' : 'uncountable', dispatchId, error });
      // What does not pass would hold up all other dispatches: the sweeper counts this one.
      if (passes) return { counted, firstOpen: first };
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
