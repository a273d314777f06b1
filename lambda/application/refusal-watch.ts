import type { Instant } from '../domain/instant.ts';
import { extended, isRun, lastAt, NO_STREAK, type Streak } from '../domain/streak.ts';
import type { NotedAnswer } from './noted-answer.ts';
import { recipientOf } from './noted-answer.ts';

/** Ten refusals in a row: of one dispatch, or of all mails of this sender. */
export interface RefusalRun {
  /** Undefined: of all mails. */
  readonly dispatchId?: string;
  readonly code: string;
  /** When the newest refusal was answered. */
  readonly lastAt: Instant;
  /** Of a dispatch: whether its mails were refused again after a canary was accepted, so the trouble is its own. */
  readonly isConfirmed: boolean;
}

/** Keeps the runs of refusals of one sender environment. */
export interface RefusalWatch {
  /** Adds a chunk; mails that were accepted end the runs of their dispatch and of the sender. */
  add(answers: readonly NotedAnswer[], chunk: number, now: Instant): void;
  runs(): readonly RefusalRun[];
  /** Notes that the account accepted a canary after a run: the run of all mails begins anew, that of a dispatch goes on. */
  canaryAccepted(dispatchId: string | undefined, beganAt: Instant): void;
  /** Begins a run anew; without a dispatch all of them. */
  forget(dispatchId?: string): void;
}

interface Kept {
  readonly streak: Streak;
  readonly code: string;
  /** The first canary that was accepted during the run, and recipients whose mails were tried later and refused. */
  readonly canary?: { readonly beganAt: Instant; readonly refusedSince: readonly string[] };
}

const NOTHING: Kept = { streak: NO_STREAK, code: '' };
/** One recipient may be refused for its own sake when the account's trouble has just ended. */
const CONFIRMED_BY = 3;
const MOST_DISPATCHES = 100;

export const createRefusalWatch = (): RefusalWatch => {
  let all = NOTHING;
  const dispatches = new Map<string, Kept>();

  return {
    add(answers, chunk, now) {
      all = after(all, answers, chunk, now);
      for (const [dispatchId, ofOne] of Map.groupBy(answers, ({ key }) => key.dispatchId)) {
        const next = after(dispatches.get(dispatchId) ?? NOTHING, ofOne, chunk, now);
        // Put at the end, so that the first key is the one that nobody was refused of for longest.
        dispatches.delete(dispatchId);
        if (next.streak.length > 0) dispatches.set(dispatchId, next);
      }
      const [oldest] = dispatches.keys();
      if (oldest !== undefined && dispatches.size > MOST_DISPATCHES) dispatches.delete(oldest);
    },

    runs() {
      const ofOne = [...dispatches].map(([dispatchId, kept]) => ({ dispatchId, kept }));
      return [{ kept: all }, ...ofOne].flatMap(({ kept: { streak, code, canary }, ...which }) =>
        isRun(streak)
          ? [{ ...which, code, lastAt: lastAt(streak), isConfirmed: (canary?.refusedSince.length ?? 0) >= CONFIRMED_BY }]
          : [],
      );
    },

    canaryAccepted(dispatchId, beganAt) {
      const kept = dispatchId === undefined ? undefined : dispatches.get(dispatchId);
      if (dispatchId === undefined) all = NOTHING;
      else if (kept !== undefined && kept.canary === undefined)
        dispatches.set(dispatchId, { ...kept, canary: { beganAt, refusedSince: [] } });
    },

    forget(dispatchId) {
      if (dispatchId !== undefined) dispatches.delete(dispatchId);
      else {
        all = NOTHING;
        dispatches.clear();
      }
    },
  };
};

/** A mail that SES judged, accepted or refused for itself, ends a run. */
const after = ({ streak, code, canary }: Kept, answers: readonly NotedAnswer[], chunk: number, now: Instant): Kept => {
  if (answers.some(({ answer }) => answer.kind === 'accepted' || answer.kind === 'permanent')) return NOTHING;
  const refused = answers.filter(({ answer }) => answer.kind === 'account' || answer.kind === 'refused-alone');
  const newest = refused.at(-1)?.answer;
  return {
    streak: extended(streak, refused.map(recipientOf), chunk, now),
    code: newest !== undefined && 'code' in newest ? newest.code : code,
    ...(canary && { canary: { ...canary, refusedSince: refusedSince(canary, refused) } }),
  };
};

const refusedSince = (canary: NonNullable<Kept['canary']>, refused: readonly NotedAnswer[]): readonly string[] => {
  const later = refused.filter(({ startedAt }) => startedAt > canary.beganAt).map(recipientOf);
  return [...new Set([...canary.refusedSince, ...later])].slice(0, CONFIRMED_BY);
};
