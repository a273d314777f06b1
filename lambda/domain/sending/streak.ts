import type { Instant } from '../shared/instant.ts';

/** One outcome of a run: of whom, in which chunk of calls, and when the chunk was over. */
interface Entry {
  readonly recipient: string;
  readonly chunk: number;
  readonly at: Instant;
}

/** Outcomes of one sort in a row, one entry a recipient. */
export type Streak = readonly Entry[];

export const NO_STREAK: Streak = [];

const LENGTH = 10;
/** Calls of one chunk may all meet the same dead connections, so one chunk alone says little. */
const CHUNKS = 3;
const SPAN_MS = 2_000;
const FORGOTTEN_MS = 600_000;
/** An environment keeps no more of a long run. */
const MOST_KEPT = 1_000;

/** The streak after one more chunk. @param recipients those of the chunk with such an outcome; empty: an older entry may be forgotten */
export const extended = (streak: Streak, recipients: readonly string[], chunk: number, now: Instant): Streak => {
  const kept = streak.filter(({ at }) => now - at <= FORGOTTEN_MS);
  const known = new Set(kept.map(({ recipient }) => recipient));
  const added = recipients.filter((recipient) => !known.has(recipient)).map((recipient) => ({ recipient, chunk, at: now }));
  // A chunk of known recipients still makes the run longer in time.
  const [first] = recipients;
  const repeated = added.length === 0 && first !== undefined ? [{ recipient: first, chunk, at: now }] : [];
  return [...kept, ...added, ...repeated].slice(-MOST_KEPT);
};

/** Ten different recipients, over at least three chunks and two seconds. */
export const isRun = (streak: Streak): boolean => {
  const [first, last] = [streak[0], streak.at(-1)];
  if (first === undefined || last === undefined || last.at - first.at < SPAN_MS) return false;
  return countOf(streak, ({ recipient }) => recipient) >= LENGTH && countOf(streak, ({ chunk }) => chunk) >= CHUNKS;
};

/** When the oldest entry that is kept was added. */
export const firstAt = (streak: Streak): Instant => streak[0]?.at ?? 0;

/** When the newest entry was added. */
export const lastAt = (streak: Streak): Instant => streak.at(-1)?.at ?? 0;

const countOf = (streak: Streak, by: (entry: Entry) => unknown): number => new Set(streak.map(by)).size;

/** Calls of one chunk, and how many of their answers were lost. */
export interface Losses {
  readonly at: Instant;
  readonly calls: number;
  readonly lost: number;
}

const LOSSES_MS = 60_000;
const LOSSES_TO_PAUSE = 20;
const SHARE_TO_PAUSE = 0.2;

/** The losses that still matter after one more chunk. */
export const recentLosses = (losses: readonly Losses[], next: Losses): readonly Losses[] =>
  [...losses, next].filter(({ at }) => next.at - at < LOSSES_MS);

/** Whether so many answers are lost that each further mail is likely to end as UNKNOWN. */
export const areHeavy = (losses: readonly Losses[]): boolean => {
  const lost = losses.reduce((sum, each) => sum + each.lost, 0);
  const calls = losses.reduce((sum, each) => sum + each.calls, 0);
  return lost >= LOSSES_TO_PAUSE && lost >= calls * SHARE_TO_PAUSE;
};
