import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type PausePolicy, permission, type Sending, type ServicePause } from '../../../../../lambda/domain/sending/pause.ts';
import { afterCanary, afterMail, type CanaryVerdict, readCanary } from '../../../../../lambda/domain/sending/probe.ts';
import type { SendAnswer } from '../../../../../lambda/domain/sending/send-answer.ts';
import { T0 } from '../../../../support/clock.ts';

const policy: PausePolicy = { pauseBaseSeconds: 60, pauseCapSeconds: 600, probeSeconds: 25 };
const NOW = T0 + 61_000;
const probed = (pause: Partial<ServicePause> = {}): Sending => ({
  version: 4,
  pause: {
    by: 'service',
    code: 'ACCESS_DENIED',
    since: T0,
    until: T0 + 60_000,
    seconds: 60,
    probeUntil: T0 + 85_000,
    ...pause,
  },
});
const how = { policy, now: NOW, random: 0.5 };

describe('a canary', () => {
  it.each<[string, SendAnswer, CanaryVerdict]>([
    ['works that SES accepts', { kind: 'accepted', messageId: 'm' }, { kind: 'works' }],
    ['is refused as mails are', { kind: 'account', code: 'ACCESS_DENIED' }, { kind: 'refused', code: 'ACCESS_DENIED' }],
    ['says nothing when its answer is lost', { kind: 'unclear', code: 'TIMED_OUT' }, { kind: 'open' }],
    ['says nothing when SES fails in passing', { kind: 'transient', code: 'NOT_CONNECTED' }, { kind: 'open' }],
    ['is to be sent again when throttled', { kind: 'throttled', code: 'ACCOUNT_THROTTLED' }, { kind: 'throttled' }],
    [
      'is unusable when SES refuses its content or recipient (V32)',
      { kind: 'permanent', code: 'RECIPIENT_NOT_VERIFIED' },
      { kind: 'unusable', code: 'RECIPIENT_NOT_VERIFIED' },
    ],
  ])('%s', (_name, answer, expected) => {
    expect(readCanary(answer, 'ACCESS_DENIED')).toEqual(expected);
  });

  it('is unusable if only its own recipient is not allowed (V32)', () => {
    expect(readCanary({ kind: 'account', code: 'ACCESS_DENIED' }, 'ACCOUNT_SENDING_PAUSED')).toEqual({
      kind: 'unusable',
      code: 'ACCESS_DENIED',
    });
  });
});

describe('a pause probed by a canary', () => {
  const by = (verdict: CanaryVerdict, pause?: Partial<ServicePause>, accepted = 0) =>
    afterCanary(probed(pause), verdict, { ...how, accepted });

  it('ends when it is accepted', () => {
    expect(by({ kind: 'works' })).toEqual({
      type: 'resumed',
      next: { version: 5, resumedAt: NOW, lastSeconds: 60 },
    });
  });

  it('is twice as long, with its newest reason, when it is refused', () => {
    expect(by({ kind: 'refused', code: 'ACCOUNT_SUSPENDED' })).toEqual({
      type: 'pause-prolonged',
      next: {
        version: 5,
        pause: {
          by: 'service',
          code: 'ACCOUNT_SUSPENDED',
          since: T0,
          until: NOW + 120_000,
          seconds: 120,
          probes: 1,
        },
      },
    });
  });

  it('is twice as long with the same reason when nothing was learned', () => {
    expect(by({ kind: 'open' }, { code: 'TROUBLE_IN_A_ROW' })?.next.pause).toMatchObject({
      code: 'TROUBLE_IN_A_ROW',
      seconds: 120,
      probes: 1,
    });
  });

  it('keeps to canaries as long as some are accepted', () => {
    expect(by({ kind: 'open' }, { code: 'TROUBLE_IN_A_ROW', probes: 2 }, 3)?.next.pause).toMatchObject({
      probes: 0,
      seconds: 120,
    });
  });

  it('is probed again after some seconds when it is throttled, and no longer than before', () => {
    expect(by({ kind: 'throttled' }, { probes: 1 })).toMatchObject({
      type: 'probed-again',
      next: { pause: { until: NOW + 3_000, seconds: 60, probes: 1 } },
    });
  });

  it('is probed by a mail at once when the canary is unusable (V32)', () => {
    const end = by({ kind: 'unusable', code: 'MESSAGE_REJECTED' });

    expect(end?.type).toBe('canary-unusable');
    expect(end && permission(end.next, policy, NOW)).toMatchObject({ may: 'probe', with: 'mail' });
  });

  it('never becomes longer than the cap', () => {
    expect(by({ kind: 'open' }, { seconds: 480 })?.next.pause).toMatchObject({ seconds: 600 });
  });
});

describe('a pause probed by a mail', () => {
  const by = (answer: SendAnswer, pause?: Partial<ServicePause>) => afterMail(probed(pause), answer, how);

  it.each<[string, SendAnswer]>([
    ['SES accepts it', { kind: 'accepted', messageId: 'm' }],
    ['SES refuses it for itself', { kind: 'permanent', code: 'MESSAGE_REJECTED' }],
  ])('ends when %s', (_name, answer) => {
    expect(by(answer)?.type).toBe('resumed');
  });

  it('is prolonged when it is refused, for the reason that it was refused with', () => {
    expect(by({ kind: 'account', code: 'ACCOUNT_DAILY_QUOTA_EXCEEDED' }, { probes: 3 })?.next.pause).toMatchObject({
      code: 'ACCOUNT_DAILY_QUOTA_EXCEEDED',
      seconds: 120,
      probes: 4,
    });
  });

  it('is prolonged when its answer is lost', () => {
    expect(by({ kind: 'unclear', code: 'TIMED_OUT' })?.next.pause).toMatchObject({ code: 'ACCESS_DENIED', seconds: 120 });
  });

  it.each<[string, SendAnswer]>([
    ['throttled', { kind: 'throttled', code: 'ACCOUNT_THROTTLED' }],
    ['refused the credentials of this environment', { kind: 'credentials', code: 'CREDENTIALS_REFUSED' }],
  ])('is probed again when it was %s', (_name, answer) => {
    expect(by(answer)).toMatchObject({ type: 'probed-again', next: { pause: { seconds: 60 } } });
  });
});

it('no probe changes an operator’s pause or the lack of one', () => {
  const operator: Sending = { version: 4, pause: { by: 'operator', who: 'op-1', since: T0 } };
  for (const sending of [operator, { version: 4 }]) {
    expect(afterCanary(sending, { kind: 'works' }, { ...how, accepted: 0 })).toBeUndefined();
    expect(afterMail(sending, { kind: 'accepted', messageId: 'm' }, how)).toBeUndefined();
  }
});

describe('whatever probes answer', () => {
  const verdict = fc.constantFrom<CanaryVerdict>(
    { kind: 'refused', code: 'ACCESS_DENIED' },
    { kind: 'open' },
    { kind: 'throttled' },
    { kind: 'unusable', code: 'MESSAGE_REJECTED' },
    { kind: 'credentials' },
  );

  it('a pause ends by an acceptance alone, keeps its beginning, and is probed by a mail in the end', () => {
    fc.assert(
      fc.property(fc.array(verdict, { minLength: 20, maxLength: 40 }), (verdicts) => {
        let sending: Sending = probed();
        let now = T0 + 85_000;
        let mails = 0;
        for (const each of verdicts) {
          const asked = permission(sending, policy, now);
          if (asked.may !== 'probe') throw new Error(asked.may);
          if (asked.with === 'mail') mails += 1;
          const end =
            asked.with === 'mail'
              ? afterMail(asked.next, { kind: 'account', code: 'ACCESS_DENIED' }, { policy, now, random: 0 })
              : afterCanary(asked.next, each, { accepted: 0, policy, now, random: 0 });
          expect(end?.next.pause).toMatchObject({ by: 'service', since: T0 });
          sending = end?.next ?? sending;
          if (sending.pause?.by === 'service') now = Math.max(now, sending.pause.until);
        }
        const learned = verdicts.filter(({ kind }) => kind !== 'throttled').length;
        if (learned >= 4) expect(mails).toBeGreaterThan(0);
      }),
    );
  });
});
