import type { TaskKey } from '../../lambda/application/ports/queues.ts';
import type { Feedback } from '../../lambda/domain/recipient/feedback.ts';
import { createControlChecks } from './control-checks.ts';
import { createDice } from './dice.ts';
import { createLedger } from './ledger.ts';
import { drawPlan, type Theme } from './plan.ts';
import type { PortDeps } from './ports.ts';
import { createQueue, type Queue } from './queue.ts';
import { createRowChecks } from './row-checks.ts';
import type { Sabotage } from './sabotage.ts';
import { createScheduler, type Host, type Role } from './scheduler.ts';
import type { SendBody } from './sender-host.ts';
import { createSes, type Ses } from './ses.ts';
import { createTable, type Table } from './table.ts';
import { createTableAccess } from './table-access.ts';
import { createWeather } from './weather.ts';

export interface OutsideOptions {
  readonly sabotage?: Sabotage | undefined;
  readonly theme?: Theme | undefined;
  /** Gets a line for everything that happens. */
  readonly lines?: string[];
}

/** All that is no code of ours: time, table, queues, SES; and what watches them. */
export interface Outside extends PortDeps {
  readonly sendQueue: Queue<SendBody>;
  readonly taskQueue: Queue<TaskKey>;
  readonly feedbackQueue: Queue<Feedback>;
  readonly ses: Ses;
  readonly newId: () => string;
  /** A place for a process to run, with a clock of its own. */
  readonly newHost: (role: Role) => Host;
}

const MINUTE_MS = 60_000;
const VISIBILITY_MS = 6 * MINUTE_MS;
const FEEDBACK_VISIBILITY_MS = MINUTE_MS;
const TASK_RECEIVES = 11;

export const createOutside = (seed: number, { sabotage, theme, lines }: OutsideOptions): Outside => {
  const dice = createDice(seed);
  const plan = drawPlan(dice, theme);
  const ledger = createLedger();
  const scheduler = createScheduler(
    dice,
    createWeather(dice, plan, () => scheduler.now()),
    lines,
  );
  const { now } = scheduler;
  const checks = createControlChecks({ ledger, plan, now, table: () => table });
  const table: Table = createTable({
    rowChanged: createRowChecks({ ledger, plan, now, table: () => table }),
    dispatchChanged: checks.dispatchChanged,
  });

  const drawSkew = (): number => Math.round(dice.between(-plan.skewMs, plan.skewMs));
  const sesSkewMs = drawSkew();
  const sendQueue = createQueue<SendBody>(scheduler, dice, plan, {
    visibilityMs: Math.max(VISIBILITY_MS, plan.functionMs + MINUTE_MS),
    maxReceives: plan.policy.maxReceiveCount,
    skewMs: drawSkew(),
    stampsAnew: sabotage === 'redelivery-stamped-anew',
  });
  sendQueue.onTwice = ({ id }) => ledger.twins.add(id);
  const taskQueue = createQueue<TaskKey>(scheduler, dice, plan, {
    visibilityMs: VISIBILITY_MS,
    maxReceives: TASK_RECEIVES,
    skewMs: 0,
  });
  const feedbackQueue = createQueue<Feedback>(scheduler, dice, plan, {
    visibilityMs: FEEDBACK_VISIBILITY_MS,
    maxReceives: plan.feedbackReceives,
    skewMs: 0,
  });
  const publish = (feedback: Feedback): void => {
    feedbackQueue.add(feedback, 0);
  };

  let ids = 0;
  let hosts = 0;
  return {
    ...{ scheduler, dice, plan, ledger, checks, table, sabotage, sesSkewMs, sendQueue, taskQueue, feedbackQueue },
    access: createTableAccess(scheduler, dice, plan),
    ses: createSes({ scheduler, dice, plan, ledger, checks, skewMs: sesSkewMs, publish }),
    newId: () => `id-${(ids += 1)}`,
    newHost: (role) => ({ role, name: `${role}-${(hosts += 1)}`, skewMs: drawSkew() }),
  };
};
