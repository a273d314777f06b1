import type { SendQueue, TaskKey, TaskQueue } from '../../lambda/application/ports/queues.ts';
import type { PortDeps } from './ports.ts';
import type { Queue } from './queue.ts';
import type { Process } from './scheduler.ts';
import type { SendBody } from './sender-host.ts';

type Deps = Pick<PortDeps, 'scheduler' | 'dice' | 'plan'> & { readonly newId: () => string };

/** SQS's longest DelaySeconds. */
const LONGEST_DELAY_SECONDS = 900;

/** Whether something goes wrong with one entry of a call. */
const isTroubled = ({ scheduler, dice, plan }: Deps): boolean =>
  scheduler.now() < plan.calmAt && dice.chance(plan.rates.queueTrouble);

/** A repeat of a request whose answer was lost. */
const LATEST_REPEAT_MS = 2_000;

/** Hands a message over: it may be there without its sender's knowledge, or be there twice, each time under an id of its own. */
const handOver = (deps: Deps, add: (delayMs: number) => void): boolean => {
  const { dice } = deps;
  if (!isTroubled(deps)) {
    add(0);
    return true;
  }
  const isRepeated = dice.chance(0.5);
  if (isRepeated || dice.chance(0.5)) add(0);
  if (isRepeated) add(dice.whole(0, LATEST_REPEAT_MS));
  return isRepeated;
};

export const createSendPort = (deps: Deps, queue: Queue<SendBody>, process: () => Process): SendQueue => ({
  send: async (messages) =>
    messages.length === 0
      ? []
      : deps.scheduler.call(process(), `send ${messages.map(({ key }) => key.applyId).join(' ')}`, () =>
          messages.map(({ key, delaySeconds }) =>
            handOver(deps, (laterMs) => {
              queue.add({ id: deps.newId(), key }, Math.min(LONGEST_DELAY_SECONDS, delaySeconds) * 1000 + laterMs);
            }),
          ),
        ),

  hide: async (messages) => {
    if (messages.length === 0) return;
    await deps.scheduler.call(process(), `hide ${messages.map(({ seconds }) => `${seconds} s`).join(' ')}`, () => {
      for (const { receiptHandle, seconds } of messages) if (!isTroubled(deps)) queue.hide(receiptHandle, seconds * 1000);
    });
  },

  depth: () => deps.scheduler.call(process(), 'depth', () => queue.size()),
});

export const createTaskQueuePort = (deps: Deps, queue: Queue<TaskKey>, process: () => Process): TaskQueue => ({
  expand: (batches) => Promise.resolve(batches.map(() => true)),
  enqueueTasks: async (tasks) =>
    tasks.length === 0
      ? []
      : deps.scheduler.call(process(), 'send tasks', () =>
          tasks.map((task) =>
            handOver(deps, (laterMs) => {
              queue.add(task, laterMs);
            }),
          ),
        ),
});
