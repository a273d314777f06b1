import type { SendQueue } from '../../lambda/application/ports/queues.ts';
import type { RecipientMessage } from '../../lambda/application/send/finished-attempt.ts';
import type { RecipientKey } from '../../lambda/domain/recipient/recipient.ts';
import type { FakeClock } from './clock.ts';

interface Held {
  readonly id: string;
  readonly key: RecipientKey;
  readonly sentAt: number;
  receiveCount: number;
  visibleAt: number;
}

/** A message in hand. */
export interface Received {
  readonly receiptHandle: string;
  readonly message: RecipientMessage;
}

/** SQS by its documented rules: visibility, delays, receive counts, a dead-letter queue and its redrive. */
export interface SimulatedQueue extends SendQueue {
  readonly receive: (most?: number) => Received[];
  readonly remove: (receiptHandle: string) => void;
  /** When the next message can be received; undefined: none is left. */
  readonly nextVisibleAt: () => number | undefined;
  readonly deadLetters: Held[];
  /** Makes new messages of the dead ones' bodies, as the console does. */
  readonly redrive: () => void;
  readonly sends: { readonly key: RecipientKey; readonly delaySeconds: number }[];
  readonly hides: { readonly receiptHandle: string; readonly seconds: number }[];
}

export const createSimulatedQueue = (
  clock: FakeClock,
  { maxReceiveCount, visibilitySeconds = 360 }: { maxReceiveCount: number; visibilitySeconds?: number },
): SimulatedQueue => {
  const held = new Map<string, Held>();
  let handles = 0;
  let ids = 0;

  const add = (message: Omit<Held, 'receiveCount'>): void => {
    handles += 1;
    held.set(`handle-${handles}`, { ...message, receiveCount: 0 });
  };

  const queue: SimulatedQueue = {
    deadLetters: [],
    sends: [],
    hides: [],
    send: (messages) => {
      for (const { key, delaySeconds } of messages) {
        queue.sends.push({ key, delaySeconds });
        ids += 1;
        add({ id: `m-${ids}`, key, sentAt: clock.now(), visibleAt: clock.now() + Math.min(900, delaySeconds) * 1000 });
      }
      return Promise.resolve(messages.map(() => true));
    },
    hide: (messages) => {
      for (const { receiptHandle, seconds } of messages) {
        queue.hides.push({ receiptHandle, seconds });
        const message = held.get(receiptHandle);
        if (message) message.visibleAt = clock.now() + seconds * 1000;
      }
      return Promise.resolve();
    },
    depth: () => Promise.resolve(held.size),
    receive: (most = 10) => {
      const received: Received[] = [];
      for (const [receiptHandle, message] of held) {
        if (received.length === most) break;
        if (message.visibleAt > clock.now()) continue;
        message.receiveCount += 1;
        if (message.receiveCount > maxReceiveCount) {
          held.delete(receiptHandle);
          queue.deadLetters.push(message);
          continue;
        }
        message.visibleAt = clock.now() + visibilitySeconds * 1000;
        const { id, key, sentAt, receiveCount } = message;
        received.push({ receiptHandle, message: { id, key, sentAt, receiveCount, receivedAt: clock.now() } });
      }
      return received;
    },
    remove: (receiptHandle) => held.delete(receiptHandle),
    nextVisibleAt: () => (held.size === 0 ? undefined : Math.min(...[...held.values()].map(({ visibleAt }) => visibleAt))),
    redrive: () => {
      for (const { id, key } of queue.deadLetters.splice(0)) add({ id, key, sentAt: clock.now(), visibleAt: clock.now() });
    },
  };
  return queue;
};
