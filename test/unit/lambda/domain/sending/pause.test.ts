import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  isPaused,
  kindOf,
  pausedBy,
  pauseFor,
  type PausePolicy,
  permission,
  resumed,
  SENDING,
  type Sending,
  type ServicePause,
} from '../../../../../lambda/domain/sending/pause.ts';
import { afterCanary, type CanaryVerdict } from '../../../../../lambda/domain/sending/probe.ts';
import { T0 } from '../../../../support/clock.ts';

const policy: PausePolicy = { pauseBaseSeconds: 60, pauseCapSeconds: 600, probeSeconds: 20 };
const QUOTA = 'ACCOUNT_DAILY_QUOTA_EXCEEDED';
const ended = (probed: Sending | undefined, verdict: CanaryVerdict, now: number): Sending | undefined =>
  probed && afterCanary(probed, verdict, { accepted: 0, policy, now, random: 0.5 })?.next;
const refused = { kind: 'refused', code: 'ACCOUNT_SENDING_PAUSED' } as const;

const service = (pause: Partial<ServicePause> = {}): Sending => ({
  version: 3,
  pause: { by: 'service', code: QUOTA, since: T0, until: T0 + 60_000, seconds: 60, ...pause },
});
const operator: Sending = { version: 3, pause: { by: 'operator', who: 'op-1', since: T0 } };

describe('what a sender may do', () => {
  it.each<[string, Sending, number, object]>([
    ['is to send while there is no pause', SENDING, T0, { may: 'send' }],
    ['is to send after one has ended', { version: 9, resumedAt: T0 }, T0, { may: 'send' }],
    ['is to wait for an operator, for as long as it takes', operator, T0 + 86_400_000, { may: 'wait' }],
    ['is to wait until a pause of the service is over', service(), T0 + 59_999, { may: 'wait', until: T0 + 60_000 }],
    [
      'is to probe then, if the claim of it is granted',
      service(),
      T0 + 60_000,
      { may: 'probe', with: 'mail', next: { ...service({ probeUntil: T0 + 80_000 }), version: 4 } },
    ],
    ['is to wait while another probes', service({ probeUntil: T0 + 80_000 }), T0 + 79_999, { may: 'wait', until: T0 + 80_000 }],
    [
      'is to probe when the other one died over it',
      service({ probeUntil: T0 + 80_000 }),
      T0 + 80_000,
      { may: 'probe', with: 'mail', next: { ...service({ probeUntil: T0 + 100_000 }), version: 4 } },
    ],
  ])('%s', (_name, sending, now, expected) => {
    expect(permission(sending, policy, now)).toEqual(expected);
    expect(isPaused(sending, now)).toBe(permission(sending, policy, now).may === 'wait');
  });
});

describe('trouble of the account', () => {
  it('pauses for the base time (S6, S9)', () => {
    expect(pauseFor({ version: 7, resumedAt: T0 - 1 }, QUOTA, policy, T0)).toEqual({
      version: 8,
      pause: { by: 'service', code: QUOTA, since: T0, until: T0 + 60_000, seconds: 60 },
    });
  });

  it.each([
    ['a pause of the service', service()],
    ['a pause of an operator', operator],
  ])('leaves %s as it is', (_name, sending) => {
    expect(pauseFor(sending, 'ACCOUNT_SENDING_PAUSED', policy, T0 + 5)).toBeUndefined();
  });

  it.each([
    ['twice as long as the last one', T0 + 600_000, 240, 480],
    ['no longer than the cap', T0 + 600_000, 480, 600],
    ['as long as a first one, once ten minutes have passed', T0 + 600_001, 240, 60],
  ])('that comes soon again pauses %s', (_name, now, lastSeconds, expected) => {
    expect(pauseFor({ version: 7, resumedAt: T0, lastSeconds }, QUOTA, policy, now)?.pause).toMatchObject({ seconds: expected });
  });
});

describe('what a pause is about', () => {
  it.each([
    [QUOTA, 'quota'],
    ['TROUBLE_IN_A_ROW', 'trouble'],
    ['ANSWERS_LOST', 'trouble'],
    ['CREDENTIALS', 'credentials'],
    ['ACCESS_DENIED', 'account'],
    ['ACCOUNT_SENDING_PAUSED', 'account'],
  ])('is told by its code %s: %s', (code, kind) => {
    expect(kindOf(code)).toBe(kind);
  });

  it.each<[string, Partial<ServicePause>, 'canary' | 'mail']>([
    ['the account by a canary', { code: 'ACCESS_DENIED' }, 'canary'],
    ['the account by a canary, though two were not accepted', { code: 'ACCESS_DENIED', probes: 2 }, 'canary'],
    ['the account by a mail after three canaries (V32)', { code: 'ACCESS_DENIED', probes: 3 }, 'mail'],
    ['the account by a canary again after that mail', { code: 'ACCESS_DENIED', probes: 4 }, 'canary'],
    ['trouble by canaries', { code: 'TROUBLE_IN_A_ROW' }, 'canary'],
    ['the quota by a mail, which alone is counted', {}, 'mail'],
  ])('is probed: %s', (_name, pause, expected) => {
    expect(permission(service(pause), policy, T0 + 60_000)).toMatchObject({ may: 'probe', with: expected });
  });
});

describe('a pause of an operator', () => {
  it('comes over whatever there was, and says who and why', () => {
    expect(pausedBy(service(), { who: 'op-1', reason: 'wrong template' }, T0 + 5)).toEqual({
      version: 4,
      pause: { by: 'operator', who: 'op-1', since: T0 + 5, reason: 'wrong template' },
    });
    expect(pausedBy(SENDING, { who: 'op-1' }, T0).pause).toEqual({ by: 'operator', who: 'op-1', since: T0 });
  });

  it('ends with the instant at which it did', () => {
    expect(resumed(operator, T0 + 5)).toEqual({ version: 4, resumedAt: T0 + 5 });
  });
});

describe('the end of a pause of the service', () => {
  it('keeps how long it last was', () => {
    expect(resumed(service({ seconds: 240 }), T0 + 5)).toEqual({ version: 4, resumedAt: T0 + 5, lastSeconds: 240 });
  });
});

describe('whatever senders do, each by what it last saw', () => {
  /** A step of one of three senders: it looks, or acts on what it saw; a change stands if nobody made another since. */
  const step = fc.record({
    sender: fc.integer({ min: 0, max: 2 }),
    act: fc.constantFrom('look', 'pause', 'probe', 'probe went well', 'probe failed'),
    afterMs: fc.integer({ min: 0, max: 200_000 }),
  });

  const run = (
    start: Sending,
    steps: readonly { readonly sender: number; readonly act: string; readonly afterMs: number }[],
    each: (before: Sending, next: Sending, act: string, now: number) => void,
  ): Sending => {
    let stored = start;
    let now = T0;
    const seen: Sending[] = [start, start, start];
    const probes: (Sending | undefined)[] = [];
    for (const { sender, act, afterMs } of steps) {
      now += afterMs;
      const saw = seen[sender] ?? start;
      const probe = probes[sender];
      const asked = permission(saw, policy, now);
      const wanted = {
        look: undefined,
        pause: pauseFor(saw, QUOTA, policy, now),
        probe: asked.may === 'probe' ? asked.next : undefined,
        'probe went well': ended(probe, { kind: 'works' }, now),
        'probe failed': ended(probe, refused, now),
      }[act];
      seen[sender] = wanted ?? stored;
      if (act !== 'look') probes[sender] = undefined;
      if (wanted?.version !== stored.version + 1) continue;
      each(stored, wanted, act, now);
      stored = wanted;
      if (act === 'probe') probes[sender] = wanted;
    }
    return stored;
  };

  it('an operator’s pause stands', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.array(step, { maxLength: 60 }), (before, after) => {
        const paused = pausedBy(
          run(SENDING, before, () => undefined),
          { who: 'op-1' },
          T0,
        );

        expect(run(paused, after, () => undefined)).toEqual(paused);
      }),
      { numRuns: 1_000 },
    );
  });

  it('an operator’s pause stands against a probe that was under way', () => {
    const asked = permission(service(), policy, T0 + 60_000);
    if (asked.may !== 'probe') throw new Error(asked.may);
    const paused = pausedBy(asked.next, { who: 'op-1' }, T0 + 61_000);

    expect(ended(asked.next, { kind: 'works' }, T0 + 62_000)?.version).toBe(paused.version);
    expect(ended(asked.next, refused, T0 + 62_000)?.version).toBe(paused.version);
  });

  it('one probes at a time, and a pause ends by its own probe alone', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 40, maxLength: 80 }), (steps) => {
        run(SENDING, steps, (before, next, act, now) => {
          expect(next.version).toBe(before.version + 1);
          const probeUntil = before.pause?.by === 'service' ? before.pause.probeUntil : undefined;
          if (act === 'probe') expect(probeUntil ?? now).toBeLessThanOrEqual(now);
          if (next.pause === undefined) expect([act, typeof probeUntil]).toEqual(['probe went well', 'number']);
        });
      }),
      { numRuns: 1_000 },
    );
  });
});
