import type { Instant } from '../../lambda/domain/shared/instant.ts';
import type { Dice } from './dice.ts';
import type { Queue, Received } from './queue.ts';
import type { End, Host, Process, Scheduler } from './scheduler.ts';

/** One function that has been loaded: it handles one batch at a time, and its memory lasts until it dies. */
export interface Environment<B> {
  readonly host: Host;
  /** @returns for each message whether it stays on the queue */
  readonly handle: (messages: readonly Received<B>[], process: Process) => Promise<readonly boolean[]>;
}

export interface EventSourceDeps<B> {
  readonly scheduler: Scheduler;
  readonly dice: Dice;
  readonly queue: Queue<B>;
  readonly batchSize: number;
  /** Environments at once. */
  readonly most: number;
  readonly limitMs: number;
  /** Longest wait before messages are handed on. */
  readonly windowMs: number;
  /** How much longer messages wait just now. */
  readonly backlogMs?: () => number;
  readonly load: () => Environment<B>;
  readonly onEnd: (end: End<readonly boolean[]>, process: Process) => void;
}

/** Feeds a function from a queue, as Lambda does. */
export interface EventSource {
  /** Invocations under way. */
  readonly busy: () => number;
}

export const createEventSource = <B>(deps: EventSourceDeps<B>): EventSource => {
  const { scheduler, dice, queue } = deps;
  const idle: Environment<B>[] = [];
  let busy = 0;
  /** The next look at the queue; later ones are planned when it has been. */
  let lookAt: Instant = Infinity;

  const plan = (at: Instant): void => {
    const time = Math.max(at, scheduler.now()) + dice.whole(0, deps.windowMs) + (deps.backlogMs?.() ?? 0);
    if (time >= lookAt) {
      // A look that is planned already may come before this message is visible.
      scheduler.at(time, look);
      return;
    }
    lookAt = time;
    scheduler.at(time, look);
  };

  const look = (): void => {
    if (scheduler.now() >= lookAt) lookAt = Infinity;
    if (busy >= deps.most) return;
    const messages = queue.receive((deps.backlogMs?.() ?? 0) > 0 ? 1 : deps.batchSize);
    if (messages.length === 0) return;
    invoke(messages);
    plan(scheduler.now());
  };

  const invoke = (messages: readonly Received<B>[]): void => {
    const known = idle.length > 0 && !dice.chance(0.1) ? idle.splice(dice.whole(0, idle.length - 1), 1)[0] : undefined;
    const environment = known ?? deps.load();
    busy += 1;
    scheduler.start(
      environment.host,
      deps.limitMs,
      (process) => environment.handle(messages, process),
      (end, process) => {
        busy -= 1;
        deps.onEnd(end, process);
        if (end.how === 'returned') {
          for (const [i, { handle }] of messages.entries()) if (end.value[i] === false) queue.remove(handle);
          idle.push(environment);
        }
        plan(scheduler.now());
      },
    );
  };

  queue.onVisible = plan;
  return { busy: () => busy };
};
