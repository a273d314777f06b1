import type { Attempt } from '../recipient/attempt.ts';
import type { Instant } from '../shared/instant.ts';
import type { BackoffPolicy } from './backoff.ts';

/** Which attempt a refusal belongs to. */
export interface RefusedAttempt {
  readonly attempts: readonly Attempt[];
  readonly round: number;
  /** The lease of the attempt itself. */
  readonly lease: string;
  readonly code: string;
}

const isRefusal = ({ outcome, code }: Attempt, expected: string): boolean =>
  code === expected && (outcome === 'given-back' || outcome === 'retry');

/** The entries of the round before this attempt, the newest first. */
const before = ({ attempts, round, lease }: RefusedAttempt): Attempt[] =>
  attempts.filter((attempt) => attempt.round === round && attempt.lease !== lease).toReversed();

/** The entry before this attempt, if it is the same refusal. */
export const previousRefusal = (refused: RefusedAttempt): Attempt | undefined => {
  const [previous] = before(refused);
  return previous !== undefined && isRefusal(previous, refused.code) ? previous : undefined;
};

/** How many refusals in a row came before this one. */
const refusalsBefore = (refused: RefusedAttempt): number => {
  const entries = before(refused);
  const other = entries.findIndex((entry) => !isRefusal(entry, refused.code));
  return other < 0 ? entries.length : other;
};

/** When the call of an attempt was over. */
export const endOf = ({ startedAt, ms = 0 }: Attempt): Instant => startedAt + ms;

/** When a refused recipient is due again: each wait is twice the one before, a quarter more or less. @param random from 0 up to 1 */
export const dueAfterRefusal = (refused: RefusedAttempt, policy: BackoffPolicy, now: Instant, random: number): Instant => {
  const seconds = Math.min(policy.capSeconds, policy.baseSeconds * 2 ** refusalsBefore(refused));
  return now + Math.round(seconds * 1000 * (0.75 + random / 2));
};

/** Refusals that may be about the From address of the mail rather than about the account. */
const FROM_CODES: ReadonlySet<string> = new Set(['FROM_IDENTITY_NOT_VERIFIED', 'MAIL_FROM_DOMAIN_NOT_VERIFIED', 'ACCESS_DENIED']);

/** `Name <a@b>` and `A@b` are the same sender. */
const addressOf = (mailbox: string): string => (/<([^<>]+)>\s*$/.exec(mailbox)?.[1] ?? mailbox).trim().toLowerCase();

/** Whether a mail was refused because it is from an address that this service no longer sends from. */
export const isForeignFrom = (code: string, from: string, configured: string): boolean =>
  FROM_CODES.has(code) && addressOf(from) !== addressOf(configured);
