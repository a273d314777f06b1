import type { Instant } from './instant.ts';

/** How one attempt ended; `unsent`: SES's events were silent about it, so it was not taken. An entry without an outcome belongs to a worker that is sending, or died. */
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
  /** When SES's events were first found to be silent about it. */
  readonly silentAt?: Instant;
}

/** What became of an attempt. */
export type AttemptResult = Required<Pick<Attempt, 'outcome'>> & Pick<Attempt, 'code' | 'messageId' | 'ms' | 'silentAt'>;

/** The newest attempts are kept; an item must stay small. */
export const ATTEMPTS_KEPT = 20;

/** Writes the result into the attempt of that lease, and drops what is beyond {@link ATTEMPTS_KEPT}. */
export const withResult = (attempts: readonly Attempt[], lease: string, result: AttemptResult): Attempt[] =>
  trim(attempts.map((attempt) => (attempt.lease === lease ? { ...attempt, ...result } : attempt)));

/**
 * The oldest go, those given back before any other: an hour of throttling must not push out an attempt whose mail may
 * have been taken, since {@link countUnclear} is what keeps it from being sent again and again. Those of mails that were
 * taken go last: their message ids tell a duplicate from a repeated event.
 */
const trim = (attempts: readonly Attempt[]): Attempt[] => {
  const older = attempts.slice(0, -1).toSorted((a, b) => worth(a) - worth(b));
  const dropped = new Set(older.slice(0, Math.max(0, attempts.length - ATTEMPTS_KEPT)));
  return attempts.filter((attempt) => !dropped.has(attempt));
};

const worth = ({ outcome, messageId }: Attempt): number => {
  if (messageId !== undefined) return 2;
  return outcome === 'given-back' ? 0 : 1;
};

/** Attempts of a round of which nobody knows whether SES took the mail. */
export const countUnclear = (attempts: readonly Attempt[], round: number): number =>
  attempts.filter((attempt) => attempt.round === round && (attempt.outcome === undefined || attempt.outcome === 'unclear'))
    .length;
