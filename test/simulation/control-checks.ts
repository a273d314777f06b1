import type { SendTags } from '../../lambda/application/ports/provider.ts';
import { isFinal, RECIPIENT_STATUSES } from '../../lambda/domain/recipient/recipient.ts';
import { kindOf, type Sending } from '../../lambda/domain/sending/pause.ts';
import type { Instant } from '../../lambda/domain/shared/instant.ts';
import { BEHIND_AFTER_SECONDS } from './feedback-host.ts';
import type { Ledger, Mail } from './ledger.ts';
import type { Plan } from './plan.ts';
import type { Process } from './scheduler.ts';
import { countRowsOf, type DispatchItem, nameOf, type Table } from './table.ts';

/** Recorded by a clock that may be off, and not each second anew. */
const BEHIND_KNOWN_MS = 12_000;

export interface ControlCheckDeps {
  readonly ledger: Ledger;
  readonly plan: Plan;
  readonly table: () => Table;
  readonly now: () => Instant;
}

/** Looks at everything that is no change of a row. */
export const createControlChecks = (deps: ControlCheckDeps) => ({
  called: (tags: SendTags, by: Process) => {
    onCall(deps, tags, by);
  },
  taken: (mail: Mail) => {
    onTake(deps, mail);
  },
  dispatchChanged: (before: DispatchItem, after: DispatchItem, by: Process) => {
    onDispatch(deps, before, after, by);
  },
  sendingChanged: (before: Sending, after: Sending, by: Process) => {
    onSending(deps, before, after, by);
  },
  watermarkMoved: (to: Instant, by: Process) => {
    onWatermark(deps, to, by);
  },
});

export type ControlChecks = ReturnType<typeof createControlChecks>;

const onCall = ({ ledger, plan, now }: ControlCheckDeps, tags: SendTags, by: Process): void => {
  const who = `call for ${nameOf(tags)}`;
  const neededMs = plan.policy.sesTimeoutSeconds * 1000;
  const claim = ledger.claims.get(tags.lease);
  if (claim?.by !== by) {
    ledger.violate(`${who}: without a claim of its own`);
    return;
  }
  if (claim.call !== undefined) ledger.violate(`${who}: a second one for one claim`);
  claim.call = {};
  if (tags.attempt > plan.policy.attemptsPerRound)
    ledger.violate(`${who}: attempt ${tags.attempt} of ${plan.policy.attemptsPerRound}`);
  if (claim.round !== tags.round || claim.n !== tags.attempt) ledger.violate(`${who}: under the name of another attempt`);
  if (by.state !== 'running') ledger.violate(`${who}: by a process that is ${by.state}`);
  if (by.deadline - now() < neededMs) ledger.violate(`${who}: with ${by.deadline - now()} ms left to the process`);
  // The lease was set by the worker's own clock before it asked for it.
  if (claim.leaseUntil - (now() + by.host.skewMs) < neededMs) ledger.violate(`${who}: with too little left of the lease`);
};

/** A second mail only after the first one's attempt was given up, and that was looked at when it happened. */
const onTake = ({ ledger, plan }: ControlCheckDeps, mail: Mail): void => {
  const earlier = ledger.mailsOf(mail.key).filter((other) => other !== mail);
  const open = earlier.find(({ isWrittenOff }) => !isWrittenOff);
  const who = `${nameOf(mail.key)} got ${mail.messageId}`;
  if (open !== undefined) ledger.violate(`${who} though it had ${open.messageId}`);
  if (plan.policy.unclear === 'manual' && earlier.some(({ round }) => round === mail.round))
    ledger.violate(`${who} as a second mail under manual`);
  if (earlier.filter(({ round }) => round === mail.round).length > 1) ledger.violate(`${who} as a third mail in a round`);
};

const onDispatch = ({ ledger, table, now }: ControlCheckDeps, before: DispatchItem, after: DispatchItem, by: Process): void => {
  const rows = table().rowsOf(after.dispatchId);
  const who = `dispatch ${after.dispatchId} by ${by.host.name}`;
  if (before.status === 'CANCELLED' && after.status !== 'CANCELLED') ledger.violate(`${who}: CANCELLED became ${after.status}`);
  if (after.generation < before.generation) ledger.violate(`${who}: generation ${after.generation} after ${before.generation}`);
  if (after.status === 'COMPLETED' && (!after.isOpen || before.status !== 'COMPLETED')) {
    const open = rows.filter(({ recipient }) => !isFinal(recipient.status));
    if (open.length > 0 || rows.length !== after.total) ledger.violate(`${who}: COMPLETED with ${open.length} open rows`);
    const { counts } = countRowsOf(rows);
    if (RECIPIENT_STATUSES.some((status) => counts[status] !== after.counts?.[status])) {
      ledger.violate(`${who}: COMPLETED with ${JSON.stringify(after.counts)} instead of ${JSON.stringify(counts)}`);
    }
  }
  if (after.status === 'CANCELLED' && !after.isOpen && rows.some(({ recipient }) => !isFinal(recipient.status)))
    ledger.violate(`${who}: closed with open rows`);
  const pendingTasks = [...table().tasks.values()].filter(({ key, isDone }) => key.dispatchId === after.dispatchId && !isDone);
  if (before.isOpen && !after.isOpen && pendingTasks.length > 0)
    ledger.violate(`${who}: closed with ${pendingTasks.length} tasks left`);
  if (!after.isOpen && after.status !== 'COMPLETED' && after.status !== 'CANCELLED')
    ledger.violate(`${who}: ${after.status} and not looked after`);
  if (after.status !== 'STOPPED' && after.status !== 'CANCELLED') ledger.inactiveSince.delete(after.dispatchId);
  else if (!ledger.inactiveSince.has(after.dispatchId)) ledger.inactiveSince.set(after.dispatchId, now());
};

const onSending = ({ ledger, now }: ControlCheckDeps, before: Sending, after: Sending, by: Process): void => {
  if (by.host.role !== 'person') {
    if (before.pause?.by === 'operator') ledger.violate(`${by.host.name} ended an operator’s pause`);
    if (before.pause === undefined && after.pause?.by === 'service' && kindOf(after.pause.code) === 'account') {
      const refused = new Set(ledger.refusals.flatMap(({ host, recipient }) => (host === by.host ? [recipient] : [])));
      if (refused.size < 10) ledger.violate(`${by.host.name} paused for the refusals of ${refused.size} recipients`);
    }
    return;
  }
  if (after.pause?.by !== 'operator') ledger.operatorPauseSince = undefined;
  else ledger.operatorPauseSince ??= now();
  if (before.pause?.by === 'operator' && after.pause === undefined)
    ledger.operatorPauses.push({ from: before.pause.since, to: now() });
};

/** The watermark vouches for every event up to it that its mover had in hand; and that feedback is not behind, as far as those show. */
const onWatermark = ({ ledger, table }: ControlCheckDeps, to: Instant, by: Process): void => {
  const batch = ledger.inHand.get(by) ?? [];
  const isLate = batch.some(
    ({ arrival: { queuedAt, firstReceivedAt } }) => firstReceivedAt - queuedAt > BEHIND_AFTER_SECONDS * 1000,
  );
  if (isLate && (table().feedback.behindAt ?? -Infinity) < by.startedAt - BEHIND_KNOWN_MS)
    ledger.violate(`the watermark moved to ${new Date(to).toISOString()} though feedback was behind`);
  for (const feedback of batch) {
    if (feedback.kind !== 'event') continue;
    const { origin, event } = feedback;
    const mail = ledger.mailsOf(origin.key).find(({ messageId }) => messageId === event.messageId);
    if (mail?.isHeard === false && !ledger.unapplied.has(origin.lease) && table().row(origin.key) !== undefined)
      ledger.violate(`the watermark moved to ${new Date(to).toISOString()} over the event of ${event.messageId}`);
  }
};
