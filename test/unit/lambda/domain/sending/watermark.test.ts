import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  type Arrival,
  evaluateSilence,
  type FeedbackState,
  isBehind,
  isBelieved,
  isSilent,
  type UnappliedEvent,
} from '../../../../../lambda/domain/sending/watermark.ts';
import { anAttempt } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

const policy = { sesTimeoutSeconds: 10, watermarkMarginSeconds: 60 };
/** The call began until T0 + 10 s, SES may have taken the mail for 10 s more, and the margin is 60 s. */
const UNTIL_MS = 80_000;
const beyond = { watermark: T0 + UNTIL_MS + 1 };

const aState = (state: Partial<FeedbackState> = {}): FeedbackState => ({ unapplied: [], ...state });

describe('the events of SES about an attempt of which none was applied', () => {
  it.each<[string, Partial<FeedbackState>, ReturnType<typeof evaluateSilence>]>([
    ['are silent once events of later mails were applied', beyond, 'silent'],
    ['are quiet while the later mail is not late enough', { watermark: T0 + UNTIL_MS }, 'quiet'],
    ['are quiet after a mail 10 ms later (L4b)', { watermark: T0 + 10 }, 'quiet'],
    ['are quiet when no event ever came', {}, 'quiet'],
    ['are unapplied while one of it is (E5)', { ...beyond, unapplied: [{ lease: 'ours', sentAt: T0 }] }, 'unapplied'],
    [
      'are silent though one of another attempt is unapplied (E5)',
      { ...beyond, unapplied: [{ lease: 'theirs', sentAt: T0 }] },
      'silent',
    ],
    [
      'are unapplied while one of an unknown mail of that time is',
      { ...beyond, unapplied: [{ sentAt: T0 + UNTIL_MS }] },
      'unapplied',
    ],
    [
      'are unapplied while such a one is, by a clock a minute behind',
      { ...beyond, unapplied: [{ sentAt: T0 - 60_000 }] },
      'unapplied',
    ],
    ['are silent though one of an earlier mail is unapplied', { ...beyond, unapplied: [{ sentAt: T0 - 60_001 }] }, 'silent'],
    ['are silent though one of a later mail is unapplied', { ...beyond, unapplied: [{ sentAt: T0 + UNTIL_MS + 1 }] }, 'silent'],
    [
      'are unapplied while there may be no room for one more',
      { ...beyond, unapplied: Array.from({ length: 291 }, (_, i) => ({ lease: `l-${i}`, sentAt: T0 })) },
      'unapplied',
    ],
  ])('%s', (_name, state, expected) => {
    expect(evaluateSilence(aState(state), anAttempt(), policy)).toBe(expected);
  });

  const instant = fc.integer({ min: T0 - 200_000, max: T0 + 200_000 });
  const unapplied: fc.Arbitrary<UnappliedEvent[]> = fc.array(
    fc.oneof(fc.record({ sentAt: instant }), fc.record({ lease: fc.constantFrom('ours', 'theirs'), sentAt: instant })),
  );
  const state = fc.record({ watermark: instant, unapplied });

  it('are never silent while one of it is unapplied, whatever else was applied (E5)', () => {
    fc.assert(
      fc.property(state, (seen) => {
        const more = { ...seen, unapplied: [...seen.unapplied, { lease: 'ours', sentAt: T0 }] };
        expect(evaluateSilence(more, anAttempt(), policy)).toBe('unapplied');
      }),
    );
  });

  it('become silent by nothing that gets unapplied', () => {
    fc.assert(
      fc.property(state, unapplied, (seen, more) => {
        const after = evaluateSilence({ ...seen, unapplied: [...seen.unapplied, ...more] }, anAttempt(), policy);
        if (evaluateSilence(seen, anAttempt(), policy) !== 'silent') expect(after).not.toBe('silent');
      }),
    );
  });
});

describe('feedback is', () => {
  const limits = { behindAfterSeconds: 45, redeliverySeconds: 70 };
  const NOW = T0 + 100_000;
  const prompt: Arrival = { queuedAt: NOW - 1_000, firstReceivedAt: NOW - 500, receiveCount: 1 };

  it.each<[string, Partial<Arrival>, number | undefined, boolean, boolean]>([
    ['not behind by an event that comes promptly', {}, NOW - 2_000, false, false],
    ['behind by an event that lay in the queue too long (V7)', { queuedAt: NOW - 46_000 }, undefined, true, true],
    ['not behind by one that lay there as long as a poll may take', { queuedAt: NOW - 20_000 }, NOW - 21_000, false, false],
    ['behind by the event of a mail that SES took too long ago (V7)', {}, NOW - 46_000, false, true],
    ['not behind by a later event of such a mail, as a delivery is', {}, undefined, false, false],
    ['not behind by one that was handed out before', { receiveCount: 2 }, NOW - 46_000, false, false],
    [
      'behind by one applied long after it came, of which nobody knew',
      { queuedAt: NOW - 71_000, firstReceivedAt: NOW - 70_000, receiveCount: 2 },
      undefined,
      false,
      true,
    ],
    [
      'not behind by one that was known to be unapplied (V28)',
      { queuedAt: NOW - 10_800_000, firstReceivedAt: NOW - 10_799_000, receiveCount: 180 },
      NOW - 10_800_000,
      true,
      false,
    ],
  ])('%s', (_name, arrival, sendEventOf, wasUnapplied, expected) => {
    expect(isBehind({ ...prompt, ...arrival }, sendEventOf, wasUnapplied, limits, NOW)).toBe(expected);
  });
});

describe('silence is', () => {
  it.each<[string, number | undefined, number | undefined, boolean]>([
    ['believed when feedback was never behind', undefined, T0, true],
    ['believed when it was found after feedback was behind', T0, T0 + 1_001, true],
    ['void when feedback was behind later', T0 + 1, T0, false],
    ['void when feedback was behind about then, since that is not written each time', T0, T0 + 1_000, false],
    ['none that was not found yet', undefined, undefined, false],
  ])('%s', (_name, behindAt, silentAt, expected) => {
    expect(isBelieved({ ...(behindAt !== undefined && { behindAt }) }, silentAt)).toBe(expected);
  });
});

describe('events', () => {
  const MINUTE = 60_000;

  it.each<[string, Partial<FeedbackState>, number | undefined, boolean]>([
    ['are missing when none ever came of mails whose event is due', {}, T0, true],
    ['are missing when the newest are of mails long before', { watermark: T0 - 2 * MINUTE - 1 }, T0, true],
    ['are there when the newest are of mails about then', { watermark: T0 - 2 * MINUTE }, T0, false],
    ['are not missing when none is due', { watermark: 0 }, undefined, false],
  ])('%s', (_, state, newestSentAt, silent) => {
    expect(isSilent(aState(state), newestSentAt)).toBe(silent);
  });
});
