import type { Instant } from '../../lambda/domain/instant.ts';
import { ATTEMPTS_EXHAUSTED } from '../../lambda/domain/recipient.ts';
import type { Claim, Ledger } from './ledger.ts';
import type { Plan } from './plan.ts';
import type { Process } from './scheduler.ts';
import { type Cause, nameOf, type Row } from './table.ts';
import { faultOfTransition } from './transitions.ts';

/** How old a sender's knowledge of a pause or of a dispatch's state may be. */
const KNOWLEDGE_MS = 5_000;

/** SES may take a mail a little after the caller has given up. */
export const LATE_TAKE_MS = 5_000;

export interface RowCheckDeps {
  readonly ledger: Ledger;
  readonly plan: Plan;
  readonly now: () => Instant;
}

/** Looks at every change of a row, at the moment it takes effect. */
export const createRowChecks = (deps: RowCheckDeps) => {
  const { ledger } = deps;
  return (before: Row, after: Row, cause: Cause, by: Process): void => {
    const who = nameOf(before.key);
    const check = (fault: string | undefined): void => {
      if (fault !== undefined) ledger.violate(`${who}: ${fault} (by ${by.host.name})`);
    };
    check(faultOfTransition(before.recipient, after.recipient, cause));
    check(faultOfMessageIds(ledger, after));
    switch (cause) {
      case 'claim':
        check(onClaim(deps, after, by));
        return;
      case 'write':
        check(onWrite(deps, before, after, by));
        return;
      case 'reopen':
        check(onReopen(deps, before, by));
        return;
      case 'cancel':
      case 'amend':
        return;
    }
  };
};

const faultOfMessageIds = (ledger: Ledger, { key, recipient, attempts }: Row): string | undefined => {
  const known = [
    ...(recipient.status === 'SENT' ? [recipient.messageId ?? 'a mail without an id'] : []),
    ...attempts.flatMap(({ messageId }) => messageId ?? []),
  ];
  const own = ledger.mailsOf(key);
  const foreign = known.find((messageId) => !own.some((mail) => mail.messageId === messageId));
  return foreign === undefined ? undefined : `${foreign} is no mail that SES took for it`;
};

const onClaim = ({ ledger, plan, now }: RowCheckDeps, { key, recipient }: Row, by: Process): string | undefined => {
  if (recipient.status !== 'PROCESSING') return 'a claim without a lease';
  const { lease, round, attemptCount: n } = recipient;
  const earlier = [...ledger.claims.values()].filter((claim) => nameOf(claim.key) === nameOf(key) && claim.round === round);
  ledger.claims.set(lease.token, { key, lease: lease.token, round, n, leaseUntil: lease.until, by, isCutOff: false });
  if (n > plan.policy.attemptsPerRound) return `attempt ${n} of ${plan.policy.attemptsPerRound}`;
  if (earlier.some((claim) => claim.n === n && claim.outcome !== 'given-back'))
    return `attempt ${n} of round ${round} was made twice`;

  const inactiveSince = ledger.inactiveSince.get(key.dispatchId);
  if (inactiveSince !== undefined && by.startedAt - inactiveSince > KNOWLEDGE_MS) return 'claimed in a dispatch that is not sent';
  const leave = ledger.leaves.get(by);
  const paused = ledger.operatorPauseSince;
  if (leave === undefined) return 'claimed without asking whether sending is paused';
  if (paused !== undefined && leave.askedAt - paused > KNOWLEDGE_MS + leave.lagMs)
    return `claimed ${(now() - paused) / 1000} s after an operator’s pause`;
  return undefined;
};

const onWrite = (deps: RowCheckDeps, before: Row, after: Row, by: Process): string | undefined => {
  if (before.recipient.status !== 'PROCESSING') return undefined;
  const { token } = before.recipient.lease;
  const claim = deps.ledger.claims.get(token);
  if (claim === undefined) return 'a lease that was never granted';
  if (claim.by !== by && claim.leaseUntil > deps.now() + by.host.skewMs) return 'another’s lease was ended while it was alive';
  const outcome = after.attempts.find(({ lease }) => lease === token)?.outcome;
  claim.outcome = outcome ?? '';
  switch (outcome) {
    case 'unsent':
      return onWrittenOff(deps, claim, by);
    case 'unclear':
      return after.recipient.status === 'PROCESSING' ? undefined : onGivenUp(deps, after, claim);
    case 'sent':
      return claim.call?.answer?.kind === 'accepted' ? undefined : 'SENT without SES’s word';
    case 'failed':
    case 'retry':
    case 'given-back':
      return onNotTaken(deps, after, claim);
    case undefined:
      return 'the attempt that was ended is not among the attempts';
  }
};

/** Promise 4, to the letter. */
const onWrittenOff = ({ ledger, plan, now }: RowCheckDeps, claim: Claim, by: Process): string | undefined => {
  if (plan.policy.unclear !== 'auto') return 'taken for unsent though nobody asked SES’s events';
  if (ledger.holdsSeen.get(by)?.has(claim.lease) === true) return 'taken for unsent though an event of it is known to be stuck';
  const mail = ledger.mailsOf(claim.key).find((each) => each.lease === claim.lease);
  if (mail === undefined) return undefined;
  mail.isWrittenOff = true;
  // Nobody's clock is exact, and SES may have taken the mail just after the worker had given up.
  const toleranceMs = 2 * plan.skewMs + LATE_TAKE_MS;
  const provedBy = mail.takenAt + plan.policy.witnessMarginSeconds * 1000 - toleranceMs;
  if (mail.isHeard) return 'taken for unsent though its event was applied';
  if (!ledger.heardOf.some((takenAt) => takenAt > provedBy)) {
    const newest = ledger.heardOf.length === 0 ? 'none' : `${(Math.max(...ledger.heardOf) - mail.takenAt) / 1000} s later`;
    return `taken for unsent though no event of a mail sent a minute later was applied: ${newest}`;
  }
  return now() + plan.skewMs < claim.leaseUntil ? 'taken for unsent before its lease ended' : undefined;
};

/** UNKNOWN, or one more attempt by a person's choice: only if nobody can know what SES answered. */
const onGivenUp = ({ ledger, plan }: RowCheckDeps, { recipient }: Row, claim: Claim): string | undefined => {
  for (const mail of ledger.mailsOf(claim.key))
    if (mail.lease === claim.lease) mail.isWrittenOff = plan.policy.unclear === 'resend';
  if (recipient.status === 'PENDING' && plan.policy.unclear !== 'resend') return 'resent without proof';
  const isLost =
    claim.isCutOff || claim.by.state === 'dead' || claim.by.state === 'running' || claim.call?.answer?.kind === 'unclear';
  return isLost ? undefined : `given up as ${recipient.status} though its outcome was never in doubt`;
};

const onNotTaken = ({ ledger, plan }: RowCheckDeps, { recipient }: Row, claim: Claim): string | undefined => {
  if (ledger.mailsOf(claim.key).some(({ lease }) => lease === claim.lease))
    return `recorded as ${claim.outcome ?? ''} though SES took it`;
  if (recipient.status !== 'FAILED') return undefined;
  const { answer } = claim.call ?? {};
  if (recipient.lastErrorCode !== ATTEMPTS_EXHAUSTED) {
    return answer?.kind === 'permanent' && answer.code === recipient.lastErrorCode ? undefined : 'FAILED without a reason of SES';
  }
  return recipient.attemptCount === plan.policy.attemptsPerRound ? undefined : `used up after ${recipient.attemptCount} attempts`;
};

const onReopen = ({ ledger }: RowCheckDeps, { key, recipient }: Row, by: Process): string | undefined => {
  if (recipient.status !== 'FAILED') return 'reopened by nobody’s wish';
  if (by.host.role === 'task')
    return recipient.lastErrorCode === ATTEMPTS_EXHAUSTED ? 'a resume reopened used-up attempts' : undefined;
  const id = recipient.deadMessage?.id ?? '';
  // One redrive ends one round; of a message that two had in hand at once, the later one may end another.
  const isRedriven = ledger.redrives.some(
    (redrive) => redrive.id === id && (redrive.round === recipient.round || ledger.twins.has(id)),
  );
  return isRedriven ? undefined : `${key.applyId} was reopened though nobody redrove its message`;
};
