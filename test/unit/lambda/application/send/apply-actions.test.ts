import { expect, it } from 'vitest';

import type { SendQueue } from '../../../../../lambda/application/ports/queues.ts';
import { applyActions } from '../../../../../lambda/application/send/apply-actions.ts';
import type { MessageAction } from '../../../../../lambda/domain/recipient/decide-message.ts';
import { aKey } from '../../../../support/builders.ts';
import { createFakeClock, T0 } from '../../../../support/clock.ts';

const queueThat = (takes: boolean) => {
  const sends: Parameters<SendQueue['send']>[0][] = [];
  const hides: Parameters<SendQueue['hide']>[0][] = [];
  const queue: SendQueue = {
    send: (messages) => {
      sends.push(messages);
      return Promise.resolve(messages.map(() => takes));
    },
    hide: (messages) => {
      hides.push(messages);
      return Promise.resolve();
    },
    depth: () => Promise.resolve(0),
  };
  return { queue, sends, hides };
};
const inHand = (...actions: MessageAction[]) =>
  actions.map((action, i) => ({ receiptHandle: `r-${i}`, key: aKey(`a-${i}`), action }));
const all = inHand(
  { do: 'delete' },
  { do: 'wait', until: T0 + 1_001 },
  { do: 'requeue', until: T0 + 300_000 },
  { do: 'keep-failing' },
  { do: 'wait', until: T0 - 5_000 },
);

it('only what waits or keeps failing stays on the queue', async () => {
  const { queue } = queueThat(true);

  expect(await applyActions(queue, createFakeClock().now, all)).toEqual([false, true, false, true, true]);
});

it('what waits is hidden to the full second after its time, what keeps failing not at all', async () => {
  const { queue, hides } = queueThat(true);

  await applyActions(queue, createFakeClock().now, all);

  expect(hides.flat()).toEqual([
    { receiptHandle: 'r-1', seconds: 2 },
    { receiptHandle: 'r-3', seconds: 0 },
    { receiptHandle: 'r-4', seconds: 0 },
  ]);
});

it('what is requeued comes as a fresh message at its time', async () => {
  const { queue, sends } = queueThat(true);

  await applyActions(queue, createFakeClock().now, all);

  expect(sends.flat()).toEqual([{ key: aKey('a-2'), delaySeconds: 300 }]);
});

it('a message whose replacement the queue did not take stays, hidden until then (Q3)', async () => {
  const { queue, hides } = queueThat(false);

  const stays = await applyActions(queue, createFakeClock().now, inHand({ do: 'requeue', until: T0 + 300_000 }));

  expect(stays).toEqual([true]);
  expect(hides.flat()).toEqual([{ receiptHandle: 'r-0', seconds: 300 }]);
});
