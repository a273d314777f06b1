import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type Attempt, ATTEMPTS_KEPT, countLostBefore, withResult } from '../../../../../lambda/domain/recipient/attempt.ts';
import {
  decideUnclear,
  moveClock,
  type ResolvePolicy,
  type ResolveView,
  UNCLEAR_POLICIES,
  type UnclearAttempt,
  type Verdict,
  type WaitingClock,
} from '../../../../../lambda/domain/recipient/unclear.ts';
import { anAttempt, aPolicy, processing } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

const LEASE_END = T0 + 300_000;
const HOUR = 3_600;
const lost = anAttempt({ lease: 'l-1', outcome: 'unclear' });
const died = anAttempt({ lease: 'l-2', n: 2 });
const answered = anAttempt({ lease: 'l-1', outcome: 'unclear', answered: true });
const retried = anAttempt({ lease: 'l-3', outcome: 'retry' });
/** An earlier one of the round that was taken as unsent. */
const lostBefore = anAttempt({ lease: 'l-0', outcome: 'unsent' });
const answeredBefore = anAttempt({ lease: 'l-0', outcome: 'unsent', answered: true });

/** SES's events have been silent since the lease's end, which is long enough ago. */
const SILENT = { watermark: T0 + 80_001, unapplied: [] };
const LATER = LEASE_END + 70_000;

interface Case {
  readonly policy?: Partial<ResolvePolicy>;
  readonly row?: Partial<{ round: number; attemptCount: number; lease: string; attempts: readonly Attempt[] }>;
  readonly item?: Pick<UnclearAttempt, 'notedAt' | 'silentAt'>;
  readonly view?: Partial<ResolveView>;
}

const atOnce: Verdict = { verdict: 'unsent', nextAttemptAt: LATER };
const unknown: Verdict = { verdict: 'unknown' };

/** What a row whose lease ended comes to; by default its only attempt was lost and SES's events are silent about it. */
const decide = ({ policy, row = {}, item = { notedAt: 0, silentAt: LEASE_END }, view }: Case = {}): Verdict => {
  const { round = 1, attemptCount = 1, lease = 'l-1', attempts = [lost] } = row;
  return decideUnclear(
    aPolicy(policy),
    processing({ round, attemptCount, lease: { token: lease, until: LEASE_END } }),
    attempts,
    item,
    { feedback: SILENT, clock: { seconds: 70, canaries: [] }, now: LATER, random: 0, ...view },
  );
};

describe('a lost attempt about which SES’s events are silent', () => {
  it.each<[string, Case, Verdict]>([
    ['is taken as unsent', {}, atOnce],
    ['is taken as unsent when its worker died (L2)', { row: { lease: 'l-2', attempts: [died] } }, atOnce],
    ['waits until events that failed without a trace have come again (L5)', { view: { now: LATER - 1 } }, { verdict: 'wait' }],
    ['waits when it was not found silent before', { item: { notedAt: 0 } }, { verdict: 'wait', silentAt: LATER }],
    ['is UNKNOWN after another lost one of the round (V1)', { row: { attemptCount: 2, attempts: [lostBefore, lost] } }, unknown],
    [
      'is UNKNOWN after another lost one and a throttled hour in between (V34)',
      { row: { attemptCount: 2, attempts: [lostBefore, anAttempt({ lease: 'l-9', outcome: 'given-back' }), lost] } },
      unknown,
    ],
    [
      'is taken as unsent after a lost one of an earlier round',
      { row: { round: 2, attempts: [lostBefore, { ...lost, round: 2 }] } },
      atOnce,
    ],
    ['is taken as unsent after one that SES answered', { row: { attemptCount: 2, attempts: [answeredBefore, lost] } }, atOnce],
    ['is UNKNOWN at the first time when no copy is allowed', { policy: { resendsAfterLost: 0 } }, unknown],
    [
      'is taken as unsent the second time when two copies are allowed',
      { policy: { resendsAfterLost: 2 }, row: { attemptCount: 2, attempts: [lostBefore, lost] } },
      atOnce,
    ],
    ['is UNKNOWN when the attempts are used up: nobody can say that nothing was sent', { row: { attemptCount: 7 } }, unknown],
    ['is UNKNOWN when no attempt of its lease is kept', { row: { attempts: [retried] } }, unknown],
  ])('%s', (_name, given, expected) => {
    expect(decide(given)).toEqual(expected);
  });
});

describe('an attempt that SES answered with an error about which its events are silent', () => {
  const row = { attempts: [answered] };

  it.each<[string, Case, Verdict]>([
    ['is made again by backoff', { row }, { verdict: 'unsent', nextAttemptAt: LATER + 15_000 }],
    [
      'is made again however often that happens (V29)',
      { row: { attemptCount: 6, attempts: [answeredBefore, answered] } },
      { verdict: 'unsent', nextAttemptAt: LATER + 1_800_000 },
    ],
    [
      'is due at once when it was the last, so that the sender ends it (V29)',
      { row: { attemptCount: 7, attempts: [answered] } },
      atOnce,
    ],
    ['is UNKNOWN when it was the last after a lost one', { row: { attemptCount: 7, attempts: [lostBefore, answered] } }, unknown],
    [
      'is made again after one lost one',
      { row: { attemptCount: 2, attempts: [lostBefore, answered] } },
      { verdict: 'unsent', nextAttemptAt: LATER + 45_000 },
    ],
  ])('%s', (_name, given, expected) => {
    expect(decide(given)).toEqual(expected);
  });
});

describe('while feedback is behind', () => {
  const behind = (behindAt: number): ResolveView['feedback'] => ({ ...SILENT, behindAt });

  it('silence that was found before is void (V7)', () => {
    expect(decide({ view: { feedback: behind(LEASE_END + 60_000) } })).toEqual({ verdict: 'wait', silentAt: LATER });
  });

  it('nothing is concluded for a lease, also from silence that was found since (V7)', () => {
    const feedback = behind(LEASE_END - 2_000);

    expect(decide({ view: { feedback, now: LEASE_END + 298_000 - 1 } })).toEqual({ verdict: 'wait' });
    expect(decide({ view: { feedback, now: LEASE_END + 298_000 } })).toMatchObject({ verdict: 'unsent' });
  });

  it('a person is not asked for want of a canary’s event, but is after twice the time', () => {
    const canaries = [{ sentAt: LEASE_END, clock: 100 }];
    const at = (seconds: number) =>
      decide({ view: { feedback: { unapplied: [], behindAt: LATER - 1 }, clock: { seconds, canaries } } });

    expect(at(2 * HOUR - 1)).toMatchObject({ verdict: 'wait' });
    expect(at(2 * HOUR)).toEqual(unknown);
  });
});

describe('an attempt of which no later mail has been heard', () => {
  const quiet = { unapplied: [] };
  const after = (seconds: number, canaries: WaitingClock['canaries'], notedAt = 0) =>
    decide({ item: { notedAt }, view: { feedback: quiet, clock: { seconds, canaries } } });
  const canary = { sentAt: T0 + 80_001, clock: 60 };

  it.each<[string, Verdict, Verdict]>([
    ['wants a canary', after(60, []), { verdict: 'wait', wantsCanary: true }],
    ['waits while the hour after a canary is not over', after(HOUR + 59, [canary]), { verdict: 'wait', wantsCanary: true }],
    ['is UNKNOWN an hour of waiting after a canary (L4)', after(HOUR + 60, [canary]), unknown],
    [
      'waits longer when the canary was too early to tell',
      after(HOUR + 60, [{ ...canary, sentAt: T0 + 80_000 }]),
      { verdict: 'wait', wantsCanary: true },
    ],
    [
      'waits longer when it was noted later than the canary',
      after(HOUR + 60, [canary], 61),
      { verdict: 'wait', wantsCanary: true },
    ],
    ['waits twice as long when SES refuses every canary (V6)', after(2 * HOUR - 1, []), { verdict: 'wait', wantsCanary: true }],
    ['is UNKNOWN after that (V6)', after(2 * HOUR, []), unknown],
    [
      'has waited not at all when it is first looked at, whatever the clock says (V27)',
      after(9 * HOUR, [canary], 9 * HOUR),
      { verdict: 'wait', wantsCanary: true },
    ],
  ])('%s', (_name, verdict, expected) => {
    expect(verdict).toEqual(expected);
  });

  it('wants no canary while an event of it is unapplied: that would change nothing (V28)', () => {
    const feedback = { ...SILENT, unapplied: [{ lease: 'l-1', sentAt: T0 }] };

    expect(decide({ view: { feedback } })).toEqual({ verdict: 'wait', wantsCanary: false });
  });

  it('is taken as unsent though an event of another has been unapplied for hours (V28)', () => {
    const feedback = { ...SILENT, unapplied: [{ lease: 'another', sentAt: T0 }] };

    expect(decide({ view: { feedback } })).toEqual(atOnce);
  });
});

describe('the other policies', () => {
  it.each<[string, Case, Verdict]>([
    ['manual: UNKNOWN at the end of the lease (L4)', { policy: { unclear: 'manual' } }, unknown],
    [
      'resend: one more, whatever the events say (L4)',
      { policy: { unclear: 'resend' }, view: { feedback: { unapplied: [] } } },
      atOnce,
    ],
    [
      'resend: no third mail (L4)',
      { policy: { unclear: 'resend' }, row: { attemptCount: 2, lease: 'l-2', attempts: [lost, died] } },
      unknown,
    ],
    [
      'resend: an error that SES answered counts like a lost answer',
      { policy: { unclear: 'resend' }, row: { attemptCount: 2, lease: 'l-2', attempts: [answered, died] } },
      unknown,
    ],
    [
      'resend: one more in each round',
      { policy: { unclear: 'resend' }, row: { round: 2, attempts: [lostBefore, { ...lost, round: 2 }] } },
      atOnce,
    ],
    ['resend: UNKNOWN when no attempt is left', { policy: { unclear: 'resend' }, row: { attemptCount: 7 } }, unknown],
  ])('%s', (_name, given, expected) => {
    expect(decide(given)).toEqual(expected);
  });

  it('are three with the default', () => {
    expect(UNCLEAR_POLICIES).toEqual(['auto', 'resend', 'manual']);
  });
});

it('a round never gets more mails of which nobody knows than allowed, whatever happens in between', () => {
  const step = fc.constantFrom('lost', 'answered', 'throttled', 'retried');
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 80 }),
      fc.integer({ min: 0, max: 3 }),
      fc.constantFrom('auto', 'resend'),
      (steps, allowed, unclear) => {
        let attempts: Attempt[] = [];
        let mails = 0;
        for (const [i, what] of steps.entries()) {
          const lease = `l-${i}`;
          attempts = [...attempts, anAttempt({ lease, n: i })];
          if (what === 'throttled') attempts = withResult(attempts, lease, { outcome: 'given-back' });
          if (what === 'retried') attempts = withResult(attempts, lease, { outcome: 'retry' });
          if (what === 'throttled' || what === 'retried') continue;
          attempts = withResult(attempts, lease, { outcome: 'unclear', ...(what === 'answered' && { answered: true }) });
          if (what === 'lost' || unclear === 'resend') mails += 1;
          const verdict = decide({
            policy: { resendsAfterLost: allowed, unclear, attemptsPerRound: 900 },
            row: { lease, attempts },
          });
          if (verdict.verdict === 'unknown') return;
          attempts = withResult(attempts, lease, { outcome: unclear === 'auto' ? 'unsent' : 'unclear' });
          expect(mails).toBeLessThanOrEqual(allowed);
        }
      },
    ),
    { numRuns: 1_000 },
  );
});

describe('the waiting clock', () => {
  const policy = { leaseSeconds: 300, unknownAfterSeconds: HOUR };
  const clock: WaitingClock = { seconds: 100, movedAt: T0, canaries: [] };

  it.each<[string, WaitingClock, boolean, number, number]>([
    ['moves by the time that passed', clock, false, T0 + 60_000, 160],
    ['stands still in a pause (V27)', clock, true, T0 + 60_000, 100],
    ['moves two leases at most after a night without walks', clock, false, T0 + 14 * 3_600_000, 700],
    ['starts from where it is', { seconds: 5, canaries: [] }, false, T0, 5],
    ['never goes back', clock, false, T0 - 60_000, 100],
  ])('%s', (_name, before, paused, now, expected) => {
    expect(moveClock(before, paused, policy, now)).toMatchObject({ seconds: expected, movedAt: now });
  });

  it('keeps the newest canary that can end a wait, and all after it', () => {
    const canaries = [0, 50, 100, 160].map((at) => ({ sentAt: T0 + at, clock: at }));

    expect(moveClock({ ...clock, seconds: HOUR + 100, canaries }, true, policy, T0).canaries).toEqual(canaries.slice(2));
  });

  it('drops the newest canaries when there are too many: the oldest end a wait first', () => {
    const canaries = Array.from({ length: 200 }, (_, i) => ({ sentAt: T0 + i, clock: i }));

    expect(moveClock({ ...clock, canaries }, true, policy, T0).canaries).toEqual(canaries.slice(0, 120));
  });
});

describe('the attempts of a recipient', () => {
  it('get a result by their lease, and the others stay', () => {
    expect(withResult([lost, died], 'l-2', { outcome: 'sent', messageId: 'ses-1', ms: 80 })).toEqual([
      lost,
      { ...died, outcome: 'sent', messageId: 'ses-1', ms: 80 },
    ]);
  });

  it('are the newest twenty', () => {
    const many = Array.from({ length: 25 }, (_, i) => anAttempt({ lease: `l-${i}`, n: i }));

    const kept = withResult(many, 'l-24', { outcome: 'sent' });

    expect(ATTEMPTS_KEPT).toBe(20);
    expect(kept.map(({ lease }) => lease)).toEqual(many.slice(5).map(({ lease }) => lease));
  });

  it('keep one whose mail may have been taken, through any number that were given back', () => {
    let attempts: Attempt[] = [lost];
    for (let i = 0; i < 100; i += 1) {
      const lease = `throttled-${i}`;
      attempts = withResult([...attempts, anAttempt({ lease, n: 2 })], lease, { outcome: 'given-back' });
    }

    expect(attempts).toHaveLength(20);
    expect(attempts.at(-1)?.lease).toBe('throttled-99');
    expect(countLostBefore(attempts, 1, 'throttled-99')).toBe(1);
  });

  it('keep the message id of a mail that was taken, through any number of others', () => {
    let attempts: Attempt[] = [anAttempt({ lease: 'taken', outcome: 'sent', messageId: 'ses-1' }), retried];
    for (let i = 0; i < 100; i += 1) {
      const lease = `failed-${i}`;
      attempts = withResult([...attempts, anAttempt({ lease, n: 2 })], lease, { outcome: 'retry' });
    }

    expect(attempts).toHaveLength(20);
    expect(attempts[0]?.lease).toBe('taken');
  });

  it('keep a lost one of the round through any number of failures, and of answers of SES (V34)', () => {
    let attempts: Attempt[] = [lostBefore];
    for (let i = 0; i < 100; i += 1) {
      const lease = `answered-${i}`;
      attempts = withResult([...attempts, anAttempt({ lease, n: i })], lease, { outcome: 'unsent', answered: true });
    }

    expect(attempts).toHaveLength(20);
    expect(countLostBefore(attempts, 1, 'answered-99')).toBe(1);
  });

  it('count as lost in their round only, when nobody knows and SES did not answer', () => {
    const others = [anAttempt({ round: 2, outcome: 'unclear' }), retried, answeredBefore];

    expect(countLostBefore([lost, died, lostBefore, ...others], 1, 'l-1')).toBe(2);
  });
});
