import { createRelay, createSweeper, loadTaskWorker } from './background-hosts.ts';
import { LEFT_ALONE_MS, planCourse } from './course.ts';
import { createEventSource, type EventSource } from './event-source.ts';
import { loadFeedback } from './feedback-host.ts';
import { checkEnd } from './final-checks.ts';
import type { Ledger } from './ledger.ts';
import { createOutside, type Outside, type OutsideOptions } from './outside.ts';
import { isWithin, type Plan } from './plan.ts';
import { createProgress } from './progress-host.ts';
import { createSendPort, createTaskQueuePort } from './queue-ports.ts';
import type { End, Process } from './scheduler.ts';
import { loadSender } from './sender-host.ts';
import { nameOf, type Table } from './table.ts';
import { createUsers } from './users.ts';
import { createWalker } from './walk-host.ts';

/** One schedule: everything that happens under one seed. */
export interface World {
  readonly seed: number;
  readonly plan: Plan;
  readonly ledger: Ledger;
  readonly table: Table;
  readonly steps: () => number;
  /** Lets something happen; true: the schedule is over. */
  readonly step: () => boolean;
}

export type WorldOptions = OutsideOptions;

const MINUTE_MS = 60_000;
/** Longer than a lease and another delivery of an event. */
const LONGEST_BACKLOG_MS = 10 * MINUTE_MS;
/** How long messages wait for an invocation. */
const WINDOW_MS = 200;
/** As long as nothing happens any more within that, all is well. */
const LONGEST_MS = 3 * 24 * 60 * MINUTE_MS;
/** A hundred times as much as happens in most. */
const MOST_STEPS = 60_000;

export const createWorld = (seed: number, options: WorldOptions = {}): World => {
  const outside = createOutside(seed, options);
  const { scheduler, plan, ledger, table } = outside;
  const background = {
    ...outside,
    sendQueue: (process: () => Process) => createSendPort(outside, outside.sendQueue, process),
    taskQueue: (process: () => Process) => createTaskQueuePort(outside, outside.taskQueue, process),
  };
  const sources = createSources(outside, background);
  const relay = createRelay(background, outside.newHost('relay'));
  table.onAppend = relay.wake;
  const progress = createProgress(outside, outside.newHost('progress'));
  table.onChange = progress.wake;
  const sweeper = createSweeper(background, outside.newHost('sweeper'));
  const walker = createWalker({ ...background, ses: outside.ses }, [outside.newHost('walk'), outside.newHost('walk')]);
  planCourse(outside, createUsers(outside, outside.newHost('person')));
  scheduler.at(scheduler.now() + plan.firstSweepMs, sweeper.run);
  scheduler.at(scheduler.now() + plan.firstWalkMs, walker.run);

  const isQuiet = (): boolean =>
    isEmpty(outside) &&
    table.unclear.items.size === 0 &&
    sources.every(({ busy }) => busy() === 0) &&
    relay.isDone() &&
    progress.isDone() &&
    [...table.dispatches.values()].every(({ isOpen, dispatchId }) => !isOpen || isLeftStopped(table, dispatchId));
  let isOver = false;
  const finish = (): void => {
    const isTooLate = scheduler.now() > plan.calmAt + LONGEST_MS;
    isOver = isTooLate || isQuiet();
    if (isTooLate) ledger.violate('it never comes to rest');
    if (isOver) checkEnd(outside);
    else scheduler.at(scheduler.now() + MINUTE_MS, finish);
  };
  scheduler.at(plan.calmAt + LEFT_ALONE_MS, finish);

  return {
    ...{ seed, plan, ledger, table },
    steps: scheduler.steps,
    step: () => {
      scheduler.step();
      if (scheduler.steps() > MOST_STEPS) ledger.violate('it goes round in circles');
      return isOver || ledger.violations.length > 0;
    },
  };
};

type Background = Parameters<typeof loadTaskWorker>[0];

/** The functions that queues feed. */
const createSources = (outside: Outside, background: Background): EventSource[] => {
  const { scheduler, dice, plan, ses, newHost } = outside;
  const onEnd = (end: End<unknown>, process: Process): void => {
    scheduler.trace(process.host.name, () => (end.how === 'failed' ? `fails: ${String(end.error)}` : end.how));
    endClaims(outside, process, end);
  };
  const common = { scheduler, dice, onEnd, windowMs: WINDOW_MS, most: 2 };
  return [
    createEventSource({
      ...common,
      queue: outside.sendQueue,
      batchSize: plan.batchSize,
      most: plan.senders,
      limitMs: plan.functionMs,
      load: () => loadSender({ ...background, ses }, newHost('sender')),
    }),
    createEventSource({
      ...common,
      queue: outside.feedbackQueue,
      batchSize: 10,
      limitMs: 10_000,
      windowMs: plan.feedbackWindowMs,
      backlogMs: () => (isWithin(plan.feedbackBacklog, scheduler.now()) ? dice.whole(1, LONGEST_BACKLOG_MS) : 0),
      load: () => loadFeedback(outside, newHost('feedback')),
    }),
    createEventSource({
      ...common,
      queue: outside.taskQueue,
      batchSize: 1,
      limitMs: MINUTE_MS,
      load: () => loadTaskWorker(background, newHost('task')),
    }),
  ];
};

const isEmpty = ({ sendQueue, taskQueue, feedbackQueue, ses }: Outside): boolean =>
  sendQueue.size() + taskQueue.size() + feedbackQueue.size() + ses.underWay() === 0;

const isLeftStopped = (table: Table, dispatchId: string): boolean =>
  table.dispatches.get(dispatchId)?.status === 'STOPPED' &&
  table.rowsOf(dispatchId).every(({ recipient }) => recipient.status !== 'PROCESSING');

/** An invocation that failed, or was killed, has lost what it knew of its claims; any other has recorded all of them. */
const endClaims = ({ ledger, table }: Outside, process: Process, { how }: End<unknown>): void => {
  for (const claim of ledger.claims.values()) {
    if (claim.by !== process) continue;
    const recipient = table.row(claim.key)?.recipient;
    const isOpen = recipient?.status === 'PROCESSING' && recipient.lease.token === claim.lease && claim.outcome === undefined;
    if (how !== 'returned') claim.isCutOff = true;
    else if (isOpen && !claim.isCutOff) ledger.violate(`${nameOf(claim.key)}: its claim ${claim.lease} was left lying`);
  }
};
