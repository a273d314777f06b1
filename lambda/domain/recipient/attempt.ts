import type { Instant } from '../shared/instant.ts';

/** How one attempt ended; `unsent`: SES's events were silent about it, so it is taken as unsent. An entry without an outcome belongs to a worker that is sending, or died. */
export type AttemptOutcome = 'sent' | 'failed' | 'retry' | 'given-back' | 'unclear' | 'unsent';

/** One claim of a recipient, and at most one SES call. */
export interface Attempt {
  readonly round: number;
  /** Counts from 1 in each round; a given-back attempt's number is used again. */
  readonly n: number;
  /** The lease token: it identifies the attempt. */
  readonly lease: string;
  readonly startedAt: Instant;
  readonly outcome?: AttemptOutcome;
  readonly code?: string;
  readonly messageId?: string;
  /** How long the SES call took. */
  readonly ms?: number;
  /** SES itself said that it failed, of an attempt that may have been taken all the same. Otherwise its answer was lost. */
  readonly answered?: boolean;
}

/** What became of an attempt. */
export type AttemptResult = Required<Pick<Attempt, 'outcome'>> & Pick<Attempt, 'code' | 'messageId' | 'ms' | 'answered'>;

/** The newest attempts are kept; an item must stay small. */
export const ATTEMPTS_KEPT = 20;

/** Writes the result into the attempt of that lease, and drops what is beyond {@link ATTEMPTS_KEPT}. */
export const withResult = (attempts: readonly Attempt[], lease: string, result: AttemptResult): Attempt[] =>
  trim(attempts.map((attempt) => (attempt.lease === lease ? { ...attempt, ...result } : attempt)));

/**
 * The oldest go, those given back before any other. Lost ones of the newest round go last of all: their number bounds how
 * many copies a recipient can get. Those of mails that were taken stay as well: their message ids tell a duplicate from a
 * repeated event.
 */
const trim = (attempts: readonly Attempt[]): Attempt[] => {
  const round = attempts.at(-1)?.round ?? 0;
  const older = attempts.slice(0, -1).toSorted((a, b) => worth(a, round) - worth(b, round));
  const dropped = new Set(older.slice(0, Math.max(0, attempts.length - ATTEMPTS_KEPT)));
  return attempts.filter((attempt) => !dropped.has(attempt));
};

const worth = (attempt: Attempt, newestRound: number): number => {
  if (attempt.round === newestRound && isLost(attempt)) return 3;
  if (attempt.messageId !== undefined) return 2;
  return attempt.outcome === 'given-back' ? 0 : 1;
};

/**
 * Whether the recipient may have a copy by it: the answer of SES was lost and nothing tells what became of the mail. One that SES
 * answered counts as well while its outcome is unclear, and no more once it is taken as unsent.
 */
const isLost = ({ outcome, answered }: Attempt): boolean =>
  outcome === undefined || outcome === 'unclear' || (outcome === 'unsent' && answered !== true);

/** Attempts of a round, other than that lease's, by which the recipient may have a copy. */
export const countLostBefore = (attempts: readonly Attempt[], round: number, lease: string): number =>
  attempts.filter((attempt) => attempt.round === round && attempt.lease !== lease && isLost(attempt)).length;

/** Attempts of a round that were given back for that reason, of those that are kept. */
export const countGivenBack = (attempts: readonly Attempt[], round: number, code: string): number =>
  attempts.filter((attempt) => attempt.round === round && attempt.outcome === 'given-back' && attempt.code === code).length;
