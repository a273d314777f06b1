import { describe, expect, it } from 'vitest';

import { eventsOf, type EventSubject } from '../../../../../lambda/domain/dispatch/dispatch-event.ts';
import { aDispatch } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

const told = (dispatch: Partial<EventSubject>): EventSubject => aDispatch({ dispatchId: 'd1', generation: 2, ...dispatch });
const idsOf = (before: Partial<EventSubject>, after: Partial<EventSubject>): string[] =>
  eventsOf(told(before), told(after), T0).map(({ id }) => id);

const completed = { status: 'COMPLETED', needsAttention: false } as const;
const stopped = { status: 'STOPPED', failureReason: 'high-bounce-rate', stoppedAt: T0 - 5 } as const;

describe('a change of a dispatch', () => {
  it.each<[string, Partial<EventSubject>, Partial<EventSubject>, string[]]>([
    ['tells that it completed', { status: 'IN_PROGRESS' }, completed, ['d1-2-completed']],
    [
      'tells that it completed and that a person should look',
      { status: 'IN_PROGRESS' },
      { ...completed, needsAttention: true },
      ['d1-2-completed', 'd1-2-needs-attention'],
    ],
    ['tells that it was stopped, by when that was', { status: 'IN_PROGRESS' }, stopped, ['d1-2026-03-02T08:59:59.995Z-stopped']],
    [
      'tells that a person should look at one that was completed before',
      completed,
      { ...completed, needsAttention: true },
      ['d1-2-needs-attention'],
    ],
    [
      'tells that a person should look at one that was cancelled',
      { status: 'CANCELLED' },
      { status: 'CANCELLED', needsAttention: true },
      ['d1-2-needs-attention'],
    ],
    [
      'tells it again when it completed again after a retry',
      { status: 'IN_PROGRESS', generation: 4 },
      { ...completed, generation: 4 },
      ['d1-4-completed'],
    ],
    ['tells nothing while it is counted', { status: 'IN_PROGRESS' }, { status: 'IN_PROGRESS' }, []],
    ['tells nothing when it begins', { status: 'ACCEPTED' }, { status: 'IN_PROGRESS' }, []],
    [
      'tells nothing when a completed one is counted again',
      { ...completed, needsAttention: true },
      { ...completed, needsAttention: true },
      [],
    ],
    ['tells nothing when nobody need look any more', { ...completed, needsAttention: true }, completed, []],
    ['tells nothing when a stopped one is cancelled', stopped, { status: 'CANCELLED' }, []],
  ])('%s', (_name, before, after, expected) => {
    expect(idsOf(before, after)).toEqual(expected);
  });

  it('tells how the dispatch stands, and when that was written', () => {
    expect(eventsOf(told({ status: 'IN_PROGRESS' }), told(completed), T0)).toEqual([
      { id: 'd1-2-completed', kind: 'completed', dispatch: told(completed), at: T0 },
    ]);
  });
});
