import { extended, firstAt, isRun, lastAt, NO_STREAK, type Streak } from '../../../domain/sending/streak.ts';
import type { Instant } from '../../../domain/shared/instant.ts';
import { type NotedAnswer, recipientOf } from './noted-answer.ts';

/** Ten refusals in a row: of one dispatch, or of all mails of this sender. */
export interface RefusalRun {
  /** Undefined: of all mails. */
  readonly dispatchId?: string;
  readonly code: string;
  /** When the newest refusal was answered. */
  readonly lastAt: Instant;
}

/** Keeps the runs of refusals of one sender environment. */
export interface RefusalWatch {
  /** Adds a chunk; mails that were accepted end the runs of their dispatch and of the sender. */
  add(answers: readonly NotedAnswer[], chunk: number, now: Instant): void;
  runs(): readonly RefusalRun[];
  /**
   * Notes that SES accepted a canary or a mail of another dispatch. The run of a dispatch is its own trouble, and not the
   * account's, once its mails were refused between two of these.
   * @param beganAt when the newest of these began; -Infinity: there is none
   * @returns the dispatches of such runs
   */
  accountWorked(beganAt: Instant): readonly { readonly dispatchId: string; readonly code: string }[];
  /** Begins the run of all mails anew, and leaves those of dispatches. */
  beginAnew(): void;
  /** Begins a run anew; without a dispatch all of them. */
  forget(dispatchId?: string): void;
}

interface Kept {
  readonly streak: Streak;
  readonly code: string;
  /** When the account first worked during the run, and who was tried later and refused, with the time of the answer. */
  readonly worked?: { readonly beganAt: Instant; readonly refusedSince: ReadonlyMap<string, Instant> };
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
      return [{ kept: all }, ...ofOne].flatMap(({ kept: { streak, code }, ...which }) =>
        isRun(streak) ? [{ ...which, code, lastAt: lastAt(streak) }] : [],
      );
    },

    accountWorked(beganAt) {
      return [...dispatches].flatMap(([dispatchId, kept]) => {
        if (!isRun(kept.streak) || beganAt < firstAt(kept.streak)) return [];
        if (kept.worked === undefined) dispatches.set(dispatchId, { ...kept, worked: { beganAt, refusedSince: new Map() } });
        const between = [...(kept.worked?.refusedSince.values() ?? [])].filter((at) => at <= beganAt);
        return between.length >= CONFIRMED_BY ? [{ dispatchId, code: kept.code }] : [];
      });
    },

    beginAnew() {
      all = NOTHING;
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
const after = ({ streak, code, worked }: Kept, answers: readonly NotedAnswer[], chunk: number, now: Instant): Kept => {
  if (answers.some(({ answer }) => answer.kind === 'accepted' || answer.kind === 'permanent')) return NOTHING;
  const refused = answers.filter(({ answer }) => answer.kind === 'account' || answer.kind === 'refused-alone');
  const newest = refused.at(-1)?.answer;
  return {
    streak: extended(streak, refused.map(recipientOf), chunk, now),
    code: newest !== undefined && 'code' in newest ? newest.code : code,
    ...(worked && { worked: { ...worked, refusedSince: refusedSince(worked, refused, now) } }),
  };
};

const refusedSince = (
  worked: NonNullable<Kept['worked']>,
  refused: readonly NotedAnswer[],
  now: Instant,
): ReadonlyMap<string, Instant> => {
  const later = refused.filter(({ startedAt }) => startedAt > worked.beganAt).map((each) => [recipientOf(each), now] as const);
  // The first refusal of each counts; more than confirm a run need not be kept.
  return new Map([...new Map([...later, ...worked.refusedSince])].toSorted(([, a], [, b]) => a - b).slice(0, CONFIRMED_BY));
};
