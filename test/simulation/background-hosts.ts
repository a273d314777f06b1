import type { SendQueue, TaskKey, TaskQueue } from '../../lambda/application/ports/queues.ts';
import { relayOutbox } from '../../lambda/application/relay/relay-outbox.ts';
import { createSweep } from '../../lambda/application/sweep/sweep.ts';
import { createRunTask } from '../../lambda/application/tasks/run-task.ts';
import { noBatches } from '../support/fake-objects.ts';
import { createSendingPort, createSweepStatesPort } from './control-ports.ts';
import { createOpenDispatchPort, createTaskPort } from './dispatch-ports.ts';
import type { Environment } from './event-source.ts';
import { createFeedbackPort } from './feedback-port.ts';
import type { PortDeps } from './ports.ts';
import { createRecipientPort } from './recipient-port.ts';
import type { Host, Process } from './scheduler.ts';
import { createLedgerPort } from './unclear-port.ts';

export interface BackgroundDeps extends PortDeps {
  readonly sendQueue: (process: () => Process) => SendQueue;
  readonly taskQueue: (process: () => Process) => TaskQueue;
  readonly newId: () => string;
}

const RECORDS_PER_BATCH = 10;
const RELAY_LIMIT_MS = 30_000;
const SWEEP_LIMIT_MS = 60_000;

/** Carries the stream's records to the queues, in order, each at least once. */
export const createRelay = (deps: BackgroundDeps, host: Host) => {
  const { scheduler, dice, table } = deps;
  let checkpoint = 0;
  let isBusy = false;

  const relay = {
    isDone: () => !isBusy && checkpoint === table.stream.length,
    look: (): void => {
      if (isBusy || checkpoint === table.stream.length) return;
      isBusy = true;
      const records = table.stream.slice(checkpoint, checkpoint + dice.whole(1, RECORDS_PER_BATCH));
      scheduler.start(
        host,
        RELAY_LIMIT_MS,
        (process) => {
          const own = (): Process => process;
          const ports = { sendQueue: deps.sendQueue(own), taskQueue: deps.taskQueue(own) };
          return relayOutbox({ ...ports, quarantine: () => Promise.resolve() }, records);
        },
        (end) => {
          isBusy = false;
          if (end.how === 'returned') checkpoint += end.value ?? records.length;
          relay.wake();
        },
      );
    },
    /** The stream is read a little later than it is written. */
    wake: (): void => {
      scheduler.at(scheduler.now() + dice.whole(50, 500), relay.look);
    },
  };
  return relay;
};

/** A loaded worker for tasks. */
export const loadTaskWorker = (deps: BackgroundDeps, host: Host): Environment<TaskKey> => ({
  host,
  async handle(messages, process) {
    const own = (): Process => process;
    const { scheduler, newId } = deps;
    const enqueueTasks = createRunTask({
      tasks: createTaskPort(deps, own),
      ...noBatches,
      recipients: createRecipientPort(deps, own),
      sendQueue: deps.sendQueue(own),
      exports: { putPart: () => Promise.resolve(), finish: () => Promise.resolve() },
      clock: () => scheduler.now() + host.skewMs,
      newId,
      sleep: (ms) => scheduler.sleep(process, ms),
    });
    const stays: boolean[] = [];
    for (const { body } of messages) {
      const report = await enqueueTasks(body, () => process.deadline - scheduler.now());
      const isSent = report.outcome !== 'more' || (await deps.taskQueue(own).enqueueTasks([body]))[0] === true;
      stays.push(!isSent);
    }
    return stays;
  },
});

/** Runs the sweeper by its schedule. */
export const createSweeper = (deps: BackgroundDeps, host: Host) => {
  const { scheduler } = deps;
  let current: Process | undefined;
  const own = (): Process => {
    if (current === undefined) throw new Error('nothing runs here');
    return current;
  };
  const sweep = createSweep({
    dispatches: createOpenDispatchPort(deps, own),
    sendQueue: deps.sendQueue(own),
    taskQueue: deps.taskQueue(own),
    sending: createSendingPort(deps, own),
    sweeps: createSweepStatesPort(deps, own),
    feedback: createFeedbackPort(deps, own),
    ledger: createLedgerPort(deps, own),
    clock: () => scheduler.now() + host.skewMs,
    stuckAfterMs: 600_000,
    revisitMs: deps.plan.revisitMs,
  });
  const run = (): void => {
    scheduler.at(scheduler.now() + deps.plan.sweepMs, run);
    // A pass that finds nothing open would leave nothing but its trace.
    const isIdle = ![...deps.table.dispatches.values()].some(({ isOpen }) => isOpen);
    if (isIdle || current?.state === 'running') return;
    scheduler.start(
      host,
      SWEEP_LIMIT_MS,
      (process) => {
        current = process;
        return sweep({ atStart: false, remainingMs: () => process.deadline - scheduler.now() });
      },
      () => undefined,
    );
  };
  return { run };
};
