import type { AttemptOutcome } from '../domain/attempt.ts';
import { withResult } from '../domain/attempt.ts';
import { isActive } from '../domain/dispatch.ts';
import type { Instant } from '../domain/instant.ts';
import { type MessageAction, waitOrRequeue, waitUntil } from '../domain/message-rule.ts';
import { advance, type In, type RecipientEvent } from '../domain/recipient.ts';
import { settleUnclear, type Verdict } from '../domain/unclear.ts';
import { keepCanaries, type Witness } from '../domain/witness.ts';
import { type Group, LOOK_AGAIN_MS, type RecipientMessage, type SendPolicy, type SendSignal } from './attempt-end.ts';
import type { StoredRecipient } from './ports.ts';
import { neededMs, type SendDeps } from './send-deps.ts';

type Unsettled = StoredRecipient & { readonly recipient: In<'PROCESSING'> };

/** What follows, message by message; `claim-again`: the recipient may be sent to now. */
export type Settled = ((message: RecipientMessage) => MessageAction) | 'claim-again';

/** Ends the wait for an outcome that nobody knows; undefined: it is not ours to end, or the table did not answer. */
export const settle = async (
  deps: SendDeps,
  group: Group,
  found: Unsettled,
  remainingMs: () => number,
): Promise<Settled | undefined> => {
  const { recipients, policy, clock, observe } = deps;
  const witness = policy.unclear === 'auto' ? await deps.witness.read() : undefined;
  if (witness === 'unavailable') return undefined;
  const { recipient, attempts } = found;
  const verdict = settleUnclear(policy, recipient, attempts, witness, clock());
  const now = clock();
  const event = eventFor(verdict, group, recipient.lease.token, policy, now);
  const transition = advance(recipient, event, now);
  if (!transition.ok) return undefined;

  const { next } = transition;
  const { token } = recipient.lease;
  const outcome: AttemptOutcome = policy.unclear === 'auto' && PROVEN.has(verdict) ? 'unsent' : 'unclear';
  const result = { outcome, ...(verdict === 'wait-for-redelivery' && { silentAt: now }) };
  const [written] = await recipients.writeAll([{ key: group.key, token, next, attempts: withResult(attempts, token, result) }]);
  if (written !== 'written') return next.status === 'FAILED' ? waitAsOneself(deps, next) : undefined;
  observe({ type: signalFor(verdict, deps), key: group.key, round: recipient.round, attempt: recipient.attemptCount });
  if (verdict === 'wait' && witness !== undefined) await wake(deps, witness, remainingMs);

  switch (next.status) {
    case 'PENDING':
      // A resume may have passed the row by while it was under way, so the message stays for another look.
      return isActive(group.status) ? 'claim-again' : () => ({ do: 'requeue', until: clock() + LOOK_AGAIN_MS });
    case 'PROCESSING':
      return () => ({ do: 'requeue', until: next.lease.until });
    case 'FAILED':
      return (message) => (message.id === next.deadMessage?.id ? { do: 'keep-failing' } : { do: 'delete' });
    case 'SENT':
    case 'UNKNOWN':
    case 'CANCELLED':
      return () => ({ do: 'delete' });
  }
};

/** The write may stand for all that, and then this very message is the dead one: a redrive is told by it, so it is not replaced. */
const waitAsOneself = ({ policy, clock }: SendDeps, { deadMessage }: In<'FAILED'>): Settled => {
  const until = clock() + LOOK_AGAIN_MS;
  return (message) =>
    message.id === deadMessage?.id ? waitUntil(message, until) : waitOrRequeue(message, until, policy.maxReceiveCount);
};

/** Verdicts that say: SES did not take it. */
const PROVEN: ReadonlySet<Verdict> = new Set(['unsent', 'exhausted']);

const eventFor = (
  verdict: Verdict,
  { message, status }: Group,
  token: string,
  { leaseSeconds, redeliverySeconds }: SendPolicy,
  now: Instant,
): RecipientEvent => {
  switch (verdict) {
    case 'wait':
      return { type: 'waited', token, until: now + leaseSeconds * 1000 };
    case 'wait-for-redelivery':
      return { type: 'waited', token, until: now + redeliverySeconds * 1000 };
    case 'unknown':
      return { type: 'settled-unknown', token };
    case 'unsent':
      return { type: status === 'CANCELLED' ? 'settled-cancelled' : 'settled-unsent', token };
    case 'exhausted':
      return status === 'CANCELLED'
        ? { type: 'settled-cancelled', token }
        : { type: 'settled-exhausted', token, message: { id: message.id, sentAt: message.sentAt } };
  }
};

const signalFor = (verdict: Verdict, { policy }: SendDeps): SendSignal['type'] => {
  switch (verdict) {
    case 'wait':
    case 'wait-for-redelivery':
      return 'waited';
    case 'unknown':
      return 'unknown';
    case 'exhausted':
      return 'exhausted';
    case 'unsent':
      return policy.unclear === 'auto' ? 'unsent' : 'resent';
  }
};

/** A fifth of the lease, a minute at most: what is waited for is settled a lease later, and a few may be lost by then. */
const apartSeconds = (leaseSeconds: number): number => Math.min(60, leaseSeconds / 5);

/** On a quiet day no event moves the witness's mark: a canary makes one. Its trouble changes nothing but how long we wait. */
const wake = async (
  { witness: repository, provider, policy, clock, observe }: SendDeps,
  { canaries }: Witness,
  remainingMs: () => number,
): Promise<void> => {
  try {
    const bookedAt = clock();
    if (remainingMs() <= neededMs(policy)) return;
    if (!(await repository.bookCanary(bookedAt, apartSeconds(policy.leaseSeconds)))) return;
    const answer = await provider.sendCanary();
    if (answer.kind !== 'accepted') return;
    observe({ type: 'canary' });
    await repository.recordCanaries(keepCanaries([...canaries, bookedAt], policy, clock()));
  } catch {
    // The next worker that meets the same silence tries again.
  }
};
