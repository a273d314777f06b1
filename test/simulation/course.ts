import { countsAtAccept } from '../../lambda/domain/dispatch/dispatch.ts';
import { aDispatch, aRecipient, pending } from '../support/builders.ts';
import type { Outside } from './outside.ts';
import type { Plan } from './plan.ts';
import type { Row, Table } from './table.ts';
import type { Users } from './users.ts';

const MINUTE_MS = 60_000;
/** The last things that people do, counted from when nothing goes wrong any more. */
const LAST_UNPAUSE_MS = MINUTE_MS;
const LAST_RESUME_MS = 5 * MINUTE_MS;
const LAST_REDRIVE_MS = 10 * MINUTE_MS;
/** Nobody does anything more after that. */
export const LEFT_ALONE_MS = 15 * MINUTE_MS;
/** How long before a sweep its dead letters are redriven, at most: the reopening then falls into it now and then. */
const BEFORE_SWEEP_MS = 2_000;

/** Plans what comes from outside: requests that are accepted, and what people do. */
export const planCourse = ({ scheduler: { at, now }, dice, plan, table }: Outside, users: Users): void => {
  for (const [i, requested] of plan.dispatches.entries()) {
    at(requested.acceptedAt, () => {
      accept(table, `d-${i + 1}`, requested);
    });
  }
  for (const action of plan.actions) {
    at(action.at, () => {
      users.act(action.what);
    });
  }
  // A call of before may still be under way when the weather clears up.
  at(plan.calmAt + LAST_UNPAUSE_MS, () => {
    if (table.sending.pause?.by === 'operator') users.act('resume-sending');
  });
  at(plan.calmAt + LAST_RESUME_MS, () => {
    for (const { dispatchId, status } of table.dispatches.values())
      if (status === 'STOPPED' && dice.chance(0.7)) users.act('resume-dispatch', dispatchId);
  });
  at(plan.calmAt + LAST_REDRIVE_MS, () => {
    if (dice.chance(0.5)) users.act('redrive');
  });
  const redriveBefore = (sweepAt: number): void => {
    at(sweepAt - dice.between(0, BEFORE_SWEEP_MS), () => {
      users.redriveAny();
    });
  };
  for (let sweepAt = now() + plan.firstSweepMs; plan.isRedrivenAtSweeps && sweepAt < plan.calmAt; sweepAt += plan.sweepMs)
    redriveBefore(sweepAt);
};

const accept = (table: Table, dispatchId: string, requested: Plan['dispatches'][number]): void => {
  const { recipients, shards, acceptedAt } = requested;
  const rows = Array.from({ length: recipients }, (_, i): Row => {
    const applyId = `a-${String(i + 1).padStart(2, '0')}`;
    const key = { dispatchId, shard: i % shards, applyId };
    return { ...aRecipient(pending({ nextAttemptAt: acceptedAt }), { applyId }), key };
  });
  const dispatch = aDispatch({ dispatchId, total: recipients, shards, createdAt: acceptedAt, ...countsAtAccept(recipients) });
  table.accept(dispatch, rows);
};
