import { expect, it } from 'vitest';

import { all, environmentOf, plain, synthesize } from './synthesized.ts';

const { dispatch } = synthesize();

it('news go to a bus of their own, named after the stack, so that two stages of one account do not meet there', () => {
  const buses = all(dispatch, 'AWS::Events::EventBus');

  // Without a name of its own a stack is called by its id; the app names it after the stage.
  expect(buses.map(({ Properties }) => Properties)).toEqual([{ Name: 'Dispatch' }]);
});

it('who wants to subscribe finds the name of the bus among the outputs, and progress publishes there', () => {
  const { Value } = dispatch.findOutputs('EventBusName')['EventBusName'] as { Value: unknown };

  expect(plain(Value)).toMatch(/^NewsBus/);
  expect(environmentOf(dispatch, 'FollowProgress')['EVENT_BUS_NAME']).toEqual(Value);
});
