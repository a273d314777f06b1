import { describe, expect, it } from 'vitest';

import type { ContentRepository } from '../../../../../lambda/application/ports/dispatches.ts';
import { Unavailable } from '../../../../../lambda/application/ports/errors.ts';
import { aKey, aMessage, DISPATCH_ID } from '../../../../support/builders.ts';
import { createFakeContents } from '../../../../support/fakes.ts';
import { createSenderWorld } from '../../../../support/sender-world.ts';

const unreadable = { unreadable: 'table-1/d1/try-1/content-0' };

const worldWith = (
  stopUnreadable: ContentRepository['stopUnreadable'],
  answer: Awaited<ReturnType<ContentRepository['find']>>,
) => {
  const stops: object[] = [];
  let finds = 0;
  const contents: ContentRepository = {
    find: (dispatchId) => {
      finds += 1;
      return dispatchId === DISPATCH_ID ? Promise.resolve(answer) : createFakeContents().find(dispatchId);
    },
    stopUnreadable: (dispatchId, content, now) => {
      stops.push({ dispatchId, ...content });
      return stopUnreadable(dispatchId, content, now);
    },
  };
  const world = createSenderWorld({ applyIds: ['a-1', 'a-2'], contents });
  return { world, stops, finds: () => finds };
};

describe('content whose object is gone', () => {
  it('stops its dispatch, rings, and nobody is claimed', async () => {
    const { world, stops } = worldWith(() => Promise.resolve(true), unreadable);

    const actions = await world.send([aMessage(), aMessage({ key: aKey('a-2') })]);

    expect(stops).toEqual([{ dispatchId: DISPATCH_ID, ...unreadable }]);
    expect(world.signals).toMatchObject([{ type: 'stopped', code: 'content-unreadable' }]);
    expect(actions.map((action) => action.do)).toEqual(['wait', 'wait']);
    expect([world.statuses(), world.provider.calls]).toEqual([['PENDING', 'PENDING'], []]);
  });

  it('stops nothing that is stopped already, and rings no second time', async () => {
    const { world } = worldWith(() => Promise.resolve(false), unreadable);

    await world.send([aMessage()]);

    expect(world.signals).toEqual([]);
  });

  it('waits when the table cannot be asked', async () => {
    const { world } = worldWith(() => Promise.reject(new Unavailable('the table', 1)), unreadable);

    expect((await world.send([aMessage()])).map((action) => action.do)).toEqual(['wait']);
    expect(world.signals).toEqual([]);
  });
});

it('a store that does not answer is asked once a batch, and claims and stops nothing', async () => {
  const { world, stops, finds } = worldWith(() => Promise.resolve(true), 'unavailable');

  const actions = await world.send([aMessage(), aMessage({ key: aKey('a-2') })]);

  expect(finds()).toBe(1);
  expect(actions.map((action) => action.do)).toEqual(['wait', 'wait']);
  expect([stops, world.statuses()]).toEqual([[], ['PENDING', 'PENDING']]);
});
