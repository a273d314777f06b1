import type { Instant } from '../../lambda/domain/shared/instant.ts';
import type { Dice } from './dice.ts';
import type { Plan } from './plan.ts';
import type { Scheduler } from './scheduler.ts';

/** A message that a queue holds. */
export interface Held<B> {
  readonly handle: string;
  readonly body: B;
  /** By the queue's clock. */
  sentAt: Instant;
  receives: number;
  firstReceivedAt: Instant | undefined;
  visibleAt: Instant;
}

/** A message as a consumer gets it. */
export interface Received<B> {
  readonly handle: string;
  readonly body: B;
  readonly sentAt: Instant;
  readonly firstReceivedAt: Instant;
  readonly receives: number;
}

export interface QueueOptions {
  readonly visibilityMs: number;
  readonly maxReceives: number;
  readonly skewMs: number;
  /** Each delivery of a message gets a new SentTimestamp, as no queue does. */
  readonly stampsAnew?: boolean;
}

/** SQS by its documented rules: at least once, visibility, delays, receive counts, a dead-letter queue and its redrive. */
export interface Queue<B> {
  readonly add: (body: B, delayMs: number) => void;
  /** Some of the visible messages, in any order. */
  readonly receive: (most: number) => Received<B>[];
  readonly hide: (handle: string, ms: number) => void;
  readonly remove: (handle: string) => void;
  readonly size: () => number;
  readonly deadLetters: readonly Held<B>[];
  /** New messages of the dead ones' bodies, as the console makes them. */
  readonly redrive: () => readonly Held<B>[];
  /** Called whenever a message will be visible at some time. */
  onVisible: (at: Instant) => void;
  /** Called for a message that is handed to two at once. */
  onTwice: (body: B) => void;
}

/** The longest time that SQS lets anybody hide a message. */
const LONGEST_HIDE_MS = 12 * 3_600_000;

export const createQueue = <B>(scheduler: Scheduler, dice: Dice, plan: Plan, options: QueueOptions): Queue<B> => {
  const held = new Map<string, Held<B>>();
  const dead: Held<B>[] = [];
  let handles = 0;
  const isTroubled = (): boolean => scheduler.now() < plan.calmAt;
  const stamp = (): Instant => scheduler.now() + options.skewMs;

  const showAt = (message: Held<B>, at: Instant): void => {
    message.visibleAt = at;
    queue.onVisible(at);
  };

  const queue: Queue<B> = {
    deadLetters: dead,
    onVisible: () => undefined,
    onTwice: () => undefined,

    add: (body, delayMs) => {
      handles += 1;
      const message = { handle: `h${handles}`, body, sentAt: stamp(), receives: 0, firstReceivedAt: undefined, visibleAt: 0 };
      held.set(message.handle, message);
      showAt(message, scheduler.now() + delayMs);
    },

    receive: (most) => {
      const visible = [...held.values()].filter(({ visibleAt }) => visibleAt <= scheduler.now());
      const received: Received<B>[] = [];
      while (visible.length > 0 && received.length < most) {
        const [message] = visible.splice(dice.whole(0, visible.length - 1), 1);
        if (message === undefined) break;
        if (message.receives >= options.maxReceives) {
          held.delete(message.handle);
          dead.push(message);
          scheduler.trace('queue', () => `dead letter ${JSON.stringify(message.body)}`);
          continue;
        }
        message.receives += 1;
        const firstReceivedAt = (message.firstReceivedAt ??= stamp());
        if (options.stampsAnew === true) message.sentAt = stamp();
        const isTwice = isTroubled() && dice.chance(plan.rates.deliveredTwice);
        if (isTwice) queue.onTwice(message.body);
        showAt(message, scheduler.now() + (isTwice ? dice.whole(1, 2_000) : options.visibilityMs));
        const { handle, body, sentAt, receives } = message;
        received.push({ handle, body, sentAt, firstReceivedAt, receives });
      }
      return received;
    },

    hide: (handle, ms) => {
      const message = held.get(handle);
      if (message !== undefined && ms <= LONGEST_HIDE_MS) showAt(message, scheduler.now() + ms);
    },

    remove: (handle) => {
      if (!(isTroubled() && dice.chance(plan.rates.undeleted))) held.delete(handle);
    },

    size: () => held.size,

    redrive: () => {
      const redriven = dead.splice(0);
      for (const { body } of redriven) queue.add(body, 0);
      return redriven;
    },
  };
  return queue;
};
