import type { Instant } from '../shared/instant.ts';

/** Who asks SES: for a template that is known, for one that may not exist, or for what the account allows. */
export type SesReadKind = 'known-template' | 'unknown-template' | 'account';

/** The budget of the account: SES answers one read a second, whoever asks. */
export interface SesReads {
  /** The first slot that nobody has booked. */
  readonly nextCallAt: Instant;
  /** Ids that may name nothing are not asked for before this. */
  readonly nextUnknownAt?: Instant;
  /** A call for the account is under way until this. */
  readonly nextAccountAt?: Instant;
  /** Known templates of the last minute, each with its latest slot. */
  readonly templates: Readonly<Record<string, Instant>>;
}

/** The state before anybody asked. */
export const NO_READS: SesReads = { nextCallAt: 0, templates: {} };

/** SES allows one call a second. */
export const SLOT_MS = 1_000;
/** A caller waits this long at most. */
export const LONGEST_AHEAD_MS = 10_000;
/** Of five slots one may go to an id that may not exist, so that nobody can use up the budget with invented ids. */
const UNKNOWN_APART_MS = 5 * SLOT_MS;
/** Time for a call for the account to be answered and stored, before another caller tries. */
const ACCOUNT_APART_MS = 5 * SLOT_MS;
/** A slot further ahead comes from a clock that was wrong; respecting it would stop all reads. */
const UNBELIEVABLE_MS = 60_000;
/** A template counts as active for this long after its latest read. */
const ACTIVE_MS = 60_000;

/** Four templates a second apart, and one slot of five for the other kinds, make the shortest period. */
const SHORTEST_FRESH_SECONDS = 5;

/** A slot, and the state that must be stored for it to be the caller's own; or when a slot may be free. */
export type Booking =
  | { readonly isBooked: true; readonly at: Instant; readonly next: SesReads }
  | { readonly isBooked: false; readonly retryAt: Instant };

/**
 * Books the next free slot. It is the caller's own only once `next` is stored in place of the state that was read.
 * @param template names the template of a `known-template` read; an id that may name nothing is not counted as active
 */
export const bookSlot = (reads: SesReads, kind: SesReadKind, now: Instant, template?: string): Booking => {
  const at = Math.max(now, believable(reads.nextCallAt, now));
  const notBefore = earliest(reads, kind, now);
  if (at < notBefore) return { isBooked: false, retryAt: notBefore };
  const longestAhead = LONGEST_AHEAD_MS + (kind === 'account' ? SLOT_MS : 0);
  if (at - now > longestAhead) return { isBooked: false, retryAt: at - longestAhead };

  const active = Object.entries(reads.templates).filter(([, seen]) => seen > at - ACTIVE_MS && seen <= at);
  const next: SesReads = {
    ...reads,
    nextCallAt: at + SLOT_MS,
    templates: Object.fromEntries([
      ...active,
      ...(kind !== 'known-template' || template === undefined ? [] : [[template, at] as const]),
    ]),
    ...(kind === 'unknown-template' && { nextUnknownAt: at + UNKNOWN_APART_MS }),
    ...(kind === 'account' && { nextAccountAt: at + ACCOUNT_APART_MS }),
  };
  return { isBooked: true, at, next };
};

const believable = (instant: Instant, now: Instant): Instant => (instant - now > UNBELIEVABLE_MS ? now : instant);

const earliest = ({ nextUnknownAt = 0, nextAccountAt = 0 }: SesReads, kind: SesReadKind, now: Instant): Instant => {
  switch (kind) {
    case 'known-template':
      return 0;
    case 'unknown-template':
      return believable(nextUnknownAt, now);
    case 'account':
      return believable(nextAccountAt, now);
  }
};

/** How long a template counts as current: five seconds for up to four active ones, beyond that a second for each. */
export const freshSeconds = ({ templates }: SesReads): number => {
  const active = Object.keys(templates).length;
  return active <= SHORTEST_FRESH_SECONDS - 1 ? SHORTEST_FRESH_SECONDS : active;
};
