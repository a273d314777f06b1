import { type AttemptOutcome, withResult } from '../../domain/recipient/attempt.ts';
import { advance, type RecipientEvent, type RecipientIn } from '../../domain/recipient/recipient.ts';
import {
  decideUnclear,
  type ResolvePolicy,
  type ResolveView,
  type UnclearAttempt,
  type Verdict,
} from '../../domain/recipient/unclear.ts';
import type { Patch, RecipientRepository, StoredRecipient } from '../ports/recipients.ts';

/** What came of one attempt on the ledger. */
export type Resolved =
  /** `attempt` is what the ledger should say of it. */
  | { readonly outcome: 'waits'; readonly attempt: UnclearAttempt; readonly wantsCanary: boolean }
  /** The recipient may be sent to from then on, and has no message. `isNew`: it was decided just now. */
  | { readonly outcome: 'unsent'; readonly row: RecipientIn<'PENDING'>; readonly isNew: boolean }
  | { readonly outcome: 'unknown'; readonly row: RecipientIn<'UNKNOWN'> }
  /** Its outcome is known by now, or somebody else's attempt goes on. */
  | { readonly outcome: 'settled' }
  /** The table did not answer. */
  | { readonly outcome: 'unavailable' }
  /** No version of this code can read the row. */
  | { readonly outcome: 'unreadable' };

interface Plan {
  readonly resolved: Resolved;
  readonly patch?: Patch;
}

/** Decides one attempt by the row as it is now, and writes the verdict if the row is still the same. */
export const resolveAttempt = async (
  recipients: Pick<RecipientRepository, 'applyPatch'>,
  policy: ResolvePolicy,
  attempt: UnclearAttempt,
  view: ResolveView,
): Promise<Resolved> => {
  let plan: Plan = { resolved: { outcome: 'settled' } };
  const written = await recipients.applyPatch(attempt.key, (row) => {
    plan = planFor(policy, row, attempt, view);
    return plan.patch;
  });
  if (written === 'unavailable' || written === 'unreadable') return { outcome: written };
  return written === 'gone' ? { outcome: 'settled' } : plan.resolved;
};

const planFor = (policy: ResolvePolicy, row: StoredRecipient, attempt: UnclearAttempt, view: ResolveView): Plan => {
  const { recipient, attempts } = row;
  if (recipient.status === 'PENDING' && isResolvedAs(row, attempt))
    // Its message was not sent, or nobody knows: one too many does no harm.
    return { resolved: { outcome: 'unsent', row: recipient, isNew: false } };
  if (recipient.status !== 'PROCESSING' || recipient.lease.token !== attempt.lease) return { resolved: { outcome: 'settled' } };
  // A clock that is behind the note was lost and began anew: so does the wait.
  const noted = { ...attempt, notedAt: Math.min(attempt.notedAt ?? Infinity, view.clock.seconds) };
  const verdict = decideUnclear(policy, recipient, attempts, noted, view);
  return verdict.verdict === 'wait' ? wait(noted, verdict) : conclude(policy, row, recipient, verdict, view);
};

/** The row waits for its next attempt because of this one, and nobody has claimed it since. */
const isResolvedAs = ({ attempts }: StoredRecipient, { lease }: UnclearAttempt): boolean => {
  const last = attempts.at(-1);
  return last?.lease === lease && (last.outcome === 'unsent' || last.outcome === 'unclear');
};

const wait = (noted: UnclearAttempt, { silentAt, wantsCanary = false }: Extract<Verdict, { verdict: 'wait' }>): Plan => ({
  resolved: { outcome: 'waits', attempt: { ...noted, ...(silentAt !== undefined && { silentAt }) }, wantsCanary },
});

const conclude = (
  policy: ResolvePolicy,
  row: StoredRecipient,
  recipient: RecipientIn<'PROCESSING'>,
  verdict: Exclude<Verdict, { verdict: 'wait' }>,
  { now }: ResolveView,
): Plan => {
  const { token } = recipient.lease;
  const event: RecipientEvent =
    verdict.verdict === 'unsent'
      ? { type: 'resolved-unsent', token, nextAttemptAt: verdict.nextAttemptAt }
      : { type: 'resolved-unknown', token };
  const transition = advance(recipient, event, now);
  // Our clock is behind that of the lease's holder: the next walk comes later.
  if (!transition.ok) return { resolved: { outcome: 'unavailable' } };
  const { next } = transition;
  const outcome: AttemptOutcome = policy.unclear === 'auto' && verdict.verdict === 'unsent' ? 'unsent' : 'unclear';
  const patch = { ...row, recipient: next, attempts: withResult(row.attempts, token, { outcome }) };
  if (next.status === 'PENDING') return { patch, resolved: { outcome: 'unsent', row: next, isNew: true } };
  if (next.status === 'UNKNOWN') return { patch, resolved: { outcome: 'unknown', row: next } };
  throw new Error(`${event.type} led to ${next.status}`);
};
