import { describe, expect, it } from 'vitest';

import { type Dispatch, NO_DELIVERIES } from '../../../../../lambda/domain/dispatch/dispatch.ts';
import {
  compareTroubles,
  countBad,
  isPassOverdue,
  type Trouble,
  troubleOf,
} from '../../../../../lambda/domain/sending/trouble.ts';
import { aDispatch, someCounts } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = T0 + 10 * HOUR;

describe('the trouble of a dispatch', () => {
  it.each<[string, Partial<Dispatch>, Trouble | undefined]>([
    ['is that it was stopped', { status: 'STOPPED', stoppedAt: T0 + 5 }, { kind: 'stopped', since: T0 + 5 }],
    [
      'is that it was stopped, at an unknown time',
      { status: 'STOPPED', lastProgressAt: T0 + 4 },
      { kind: 'stopped', since: T0 + 4 },
    ],
    [
      'is that it is completed and somebody should look',
      { status: 'COMPLETED', needsAttention: true, completedAt: T0 + 6 },
      { kind: 'recipients', since: T0 + 6 },
    ],
    [
      'is that some recipients failed, while others are sent to',
      { status: 'IN_PROGRESS', counts: someCounts({ FAILED: 1, PENDING: 2 }), lastProgressAt: NOW - MINUTE },
      { kind: 'recipients', since: NOW - MINUTE },
    ],
    [
      'is that many mails bounced, while others are sent to',
      {
        status: 'IN_PROGRESS',
        counts: someCounts({ SENT: 100, PENDING: 2 }),
        deliveries: { ...NO_DELIVERIES, bounced: 11 },
        lastProgressAt: NOW - MINUTE,
      },
      { kind: 'recipients', since: NOW - MINUTE },
    ],
    [
      'is that nothing has moved for an hour',
      { status: 'ACCEPTED', createdAt: NOW - HOUR },
      { kind: 'unmoved', since: NOW - HOUR },
    ],
    [
      'is that nothing has moved since it was resumed',
      { status: 'IN_PROGRESS', lastProgressAt: T0, resumedAt: NOW - 2 * HOUR },
      { kind: 'unmoved', since: NOW - 2 * HOUR },
    ],
    [
      'is that its cancelling does not end',
      { status: 'CANCELLED', cancelledAt: NOW - 3 * HOUR },
      { kind: 'unmoved', since: NOW - 3 * HOUR },
    ],
    [
      'is none while it moves',
      { status: 'IN_PROGRESS', lastProgressAt: NOW - HOUR + 1, counts: someCounts({ SENT: 3 }) },
      undefined,
    ],
    ['is none once all was sent', { status: 'COMPLETED', needsAttention: false, completedAt: T0 }, undefined],
    [
      'is that it was cancelled and somebody should look',
      { status: 'CANCELLED', cancelledAt: T0, needsAttention: true, counts: someCounts({ FAILED: 1, CANCELLED: 2 }) },
      { kind: 'recipients', since: T0 },
    ],
    ['is none once it was cancelled whole', { status: 'CANCELLED', cancelledAt: T0, needsAttention: false }, undefined],
    ['is none once all was sent after failures', { status: 'COMPLETED', counts: someCounts({ FAILED: 1 }) }, undefined],
  ])('%s', (_, dispatch, trouble) => {
    expect(troubleOf(aDispatch(dispatch), NOW)).toEqual(trouble);
  });

  it('is listed by how bad it is, and then the newest dispatch first', () => {
    const of = (kind: Trouble['kind'], createdAt: number) => ({
      dispatch: aDispatch({ createdAt }),
      trouble: { kind, since: T0 },
    });
    const sorted = [of('unmoved', 9), of('stopped', 1), of('recipients', 5), of('stopped', 2)].sort(compareTroubles);

    expect(sorted.map(({ trouble, dispatch }) => [trouble.kind, dispatch.createdAt])).toEqual([
      ['stopped', 2],
      ['stopped', 1],
      ['recipients', 5],
      ['unmoved', 9],
    ]);
  });
});

it('recipients to look into are those not sent to, of unknown outcome, or whose mail came back', () => {
  const deliveries = { ...NO_DELIVERIES, delayed: 1, delivered: 2, bounced: 4, complained: 8, rejected: 16, suppressed: 32 };

  expect(countBad({ counts: someCounts({ SENT: 99, FAILED: 64, UNKNOWN: 128, CANCELLED: 9 }), deliveries })).toBe(252);
  expect(countBad({ counts: someCounts({ SENT: 3 }), deliveries: NO_DELIVERIES })).toBe(0);
});

describe('recovery', () => {
  it.each([
    [undefined, true],
    [NOW - 15 * MINUTE, false],
    [NOW - 15 * MINUTE - 1, true],
  ])('that last passed at %s is overdue: %s', (lastPassAt, overdue) => {
    expect(isPassOverdue(lastPassAt, NOW)).toBe(overdue);
  });
});
