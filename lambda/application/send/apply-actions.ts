import type { MessageAction } from '../../domain/recipient/decide-message.ts';
import type { RecipientKey } from '../../domain/recipient/recipient.ts';
import type { SendQueue } from '../ports/queues.ts';
import type { Clock } from '../ports/system.ts';

/** A message of the send queue in hand. */
export interface MessageInHand {
  readonly receiptHandle: string;
  readonly key: RecipientKey;
  readonly action: MessageAction;
}

/**
 * Carries out what was decided for each message.
 * @returns for each message whether it stays on the queue; the others may be deleted
 */
export const applyActions = async (queue: SendQueue, clock: Clock, messages: readonly MessageInHand[]): Promise<boolean[]> => {
  const secondsTo = (until: number): number => Math.max(0, Math.ceil((until - clock()) / 1000));
  const requeued = [...messages.entries()].flatMap(([i, { key, action }]) =>
    action.do === 'requeue' ? [{ i, key, until: action.until }] : [],
  );
  const sent = await queue.send(requeued.map(({ key, until }) => ({ key, delaySeconds: secondsTo(until) })));
  const replaced = new Set(requeued.filter((_, n) => sent[n]).map(({ i }) => i));

  const stays = messages.map(({ action }, i) => action.do !== 'delete' && !replaced.has(i));
  await queue.hide(
    messages.flatMap(({ receiptHandle, action }, i) =>
      stays[i] ? [{ receiptHandle, seconds: 'until' in action ? secondsTo(action.until) : 0 }] : [],
    ),
  );
  return stays;
};
