import { ATTEMPTS_EXHAUSTED } from '../../lambda/domain/recipient/recipient.ts';
import type { Instant } from '../../lambda/domain/shared/instant.ts';
import type { Claim, Ledger } from './ledger.ts';
import type { Plan } from './plan.ts';
import type { Process } from './scheduler.ts';
import { type Cause, nameOf, type Row, type Table } from './table.ts';
import { faultOfTransition } from './transitions.ts';

/** How old a sender's knowledge of a pause or of a dispatch's state may be. */
const KNOWLEDGE_MS = 5_000;

/** A walk that decided before, and writes now. */
const LONGEST_WALK_MS = 20_000;
/** Between the end of a lease and the walk that notes it, and a walk that moved the clock for time before. */
const WALKS_MS = 130_000;

/** SES may take a mail a little after the caller has given up. */
export const LATE_TAKE_MS = 5_000;

export interface RowCheckDeps {
  readonly ledger: Ledger;
  readonly plan: Plan;
  readonly now: () => Instant;
  readonly table: () => Table;
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
      case 'resolve':
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
  // One claim too many ends the recipient with its message in hand; SES must not be called by it.
  if (n > plan.policy.attemptsPerRound + 1) return `attempt ${n} of ${plan.policy.attemptsPerRound}`;
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
  const { outcome, answered = false } = after.attempts.find(({ lease }) => lease === token) ?? {};
  claim.outcome = outcome ?? '';
  claim.isAnswered = answered;
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
      return (outcome === 'retry' ? onCountedRefusal(deps, claim) : undefined) ?? onNotTaken(deps, after, claim);
    case undefined:
      return 'the attempt that was ended is not among the attempts';
  }
};

/** Promise 5: what the whole account meets costs no recipient an attempt. */
const onCountedRefusal = ({ ledger, plan }: RowCheckDeps, { key, lease, round }: Claim): string | undefined => {
  const ofRound = ledger.refusals.filter((each) => each.recipient === nameOf(key) && each.round === round);
  const index = ofRound.findIndex((each) => each.lease === lease);
  if (index < 0) return undefined;
  const previous = ofRound[index - 1];
  // Two hosts' clocks tell which came first.
  const isKnownToWork = ledger.acceptances.some((at) => previous !== undefined && at >= previous.at - 2 * plan.skewMs);
  return isKnownToWork ? undefined : 'a refusal counts as an attempt though nothing was accepted since the last one';
};

/** Promise 4, to the letter. */
const onWrittenOff = (deps: RowCheckDeps, claim: Claim, by: Process): string | undefined => {
  const { ledger, plan, now } = deps;
  if (plan.policy.unclear !== 'auto') return 'taken as unsent though nobody asked SES’s events';
  if (ledger.unappliedSeen.get(by)?.has(claim.lease) === true)
    return 'taken as unsent though an event of it is known to be unapplied';
  const fault = faultOfSilence(deps, claim, by);
  if (fault !== undefined) return fault;
  const mail = ledger.mailsOf(claim.key).find((each) => each.lease === claim.lease);
  if (mail === undefined) return undefined;
  mail.isWrittenOff = true;
  // Nobody's clock is exact, and SES may have taken the mail just after the worker had given up.
  const toleranceMs = 2 * plan.skewMs + LATE_TAKE_MS;
  const confirmedBy = mail.takenAt + plan.policy.watermarkMarginSeconds * 1000 - toleranceMs;
  if (mail.isHeard) return 'taken as unsent though its event was applied';
  if (!ledger.heardOf.some((takenAt) => takenAt > confirmedBy)) {
    const newest = ledger.heardOf.length === 0 ? 'none' : `${(Math.max(...ledger.heardOf) - mail.takenAt) / 1000} s later`;
    return `taken as unsent though no event of a mail sent a minute later was applied: ${newest}`;
  }
  return now() + plan.skewMs < claim.leaseUntil ? 'taken as unsent before its lease ended' : undefined;
};

/** UNKNOWN, or one more attempt by a person's choice: only if nobody can know what SES answered. */
const onGivenUp = (deps: RowCheckDeps, { recipient }: Row, claim: Claim): string | undefined => {
  const { ledger, plan } = deps;
  for (const mail of ledger.mailsOf(claim.key))
    if (mail.lease === claim.lease) mail.isWrittenOff = plan.policy.unclear === 'resend';
  if (recipient.status === 'PENDING' && plan.policy.unclear !== 'resend') return 'resent without proof';
  const isLost =
    claim.isCutOff || claim.by.state === 'dead' || claim.by.state === 'running' || claim.call?.answer?.kind === 'unclear';
  if (!isLost) return `given up as ${recipient.status} though its outcome was never in doubt`;
  return plan.policy.unclear === 'auto' && !isForAPerson(deps, claim)
    ? 'given up though it had neither waited nor been lost twice'
    : undefined;
};

/** Two attempts of the round without a recorded outcome, the attempts used up after one, or time that was waited while sending was allowed. */
const isForAPerson = (deps: RowCheckDeps, claim: Claim): boolean => {
  const { plan } = deps;
  const isUsedUp = claim.n >= plan.policy.attemptsPerRound;
  return (
    lostBefore(deps, claim).length > 0 || isUsedUp || waitedMs(deps, claim) > plan.policy.unknownAfterSeconds * 1000 - WALKS_MS
  );
};

/** Since the end of the lease, operators' pauses not counted. */
const waitedMs = ({ ledger, now }: RowCheckDeps, { leaseUntil }: Claim): number => {
  const paused = [
    ...ledger.operatorPauses,
    ...(ledger.operatorPauseSince === undefined ? [] : [{ from: ledger.operatorPauseSince, to: now() }]),
  ];
  const pausedMs = paused.map(({ from, to }) => Math.max(0, to - Math.max(from, leaseUntil))).reduce((a, b) => a + b, 0);
  return now() - leaseUntil - pausedMs;
};

/** Attempts of the same round whose answer nobody has recorded. */
const lostBefore = ({ ledger }: RowCheckDeps, { key, lease, round }: Claim): Claim[] =>
  [...ledger.claims.values()].filter(
    (other) =>
      nameOf(other.key) === nameOf(key) &&
      other.round === round &&
      other.lease !== lease &&
      (other.outcome === 'unclear' || (other.outcome === 'unsent' && other.isAnswered !== true)),
  );

/** What the walk must have seen before it takes an attempt as unsent. */
const faultOfSilence = ({ ledger, table, plan, now }: RowCheckDeps, claim: Claim, by: Process): string | undefined => {
  const { unclear } = table();
  const behindAt = ledger.behindSeen.get(by);
  const toleranceMs = 2 * plan.skewMs + LONGEST_WALK_MS;
  if (behindAt !== undefined && now() + toleranceMs < behindAt + plan.policy.leaseSeconds * 1000)
    return 'taken as unsent while feedback was behind';
  const item = [...unclear.items.values()].find(({ lease }) => lease === claim.lease);
  // The other of two walks may be about to remove it.
  const waited = item?.silentAt === undefined ? -1 : now() + toleranceMs - item.silentAt;
  return item !== undefined && waited < plan.policy.redeliverySeconds * 1000
    ? 'taken as unsent without waiting for another delivery'
    : undefined;
};

const onNotTaken = (deps: RowCheckDeps, { recipient }: Row, claim: Claim): string | undefined => {
  const { ledger, plan } = deps;
  if (ledger.mailsOf(claim.key).some(({ lease }) => lease === claim.lease))
    return `recorded as ${claim.outcome ?? ''} though SES took it`;
  const isLostBefore = lostBefore(deps, claim).length > 0;
  if (recipient.status === 'UNKNOWN')
    return isLostBefore ? undefined : 'UNKNOWN though every attempt of the round has an outcome';
  if (recipient.status !== 'FAILED') return undefined;
  if (isLostBefore) return 'FAILED though an earlier mail of the round may have been taken';
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
