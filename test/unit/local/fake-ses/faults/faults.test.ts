import { describe, expect, it } from 'vitest';

import { classify } from '../../../../../lambda/adapters/ses/classify.ts';
import { type Fault, faultOfAddress, FAULTS, makeFault } from '../../../../../local/fake-ses/faults/faults.ts';
import { createFaultPlan, PlannedFault } from '../../../../../local/fake-ses/faults/plan.ts';

const FROM = 'Recruiting <hr@example.org>';
const callTo = (recipient: string) => ({ recipient, from: FROM });
const ofAddress = (recipient: string) => faultOfAddress(callTo(recipient));
const made = (name: string) => makeFault(name, callTo('kim@example.com'));

describe('faults', () => {
  it.each(Object.keys(FAULTS))('%s can be asked for by address', (name) => {
    const call = callTo(`${name}@simulator.localhost`);

    expect(faultOfAddress(call)).toEqual(makeFault(name, call));
  });

  it('take an argument after a colon, or after a plus in an address', () => {
    expect(made('slow:5')).toEqual({ kind: 'slow', seconds: 5 });
    expect(ofAddress('slow+5@simulator.localhost')).toEqual({ kind: 'slow', seconds: 5 });
    expect(ofAddress('slow+5+kim@simulator.localhost')).toEqual({ kind: 'slow', seconds: 5 });
  });

  it.each(['throttle', 'quota', 'slow', 'half-answer'])('%s is the same with a label that only tells addresses apart', (name) => {
    expect(ofAddress(`${name}+kim@simulator.localhost`)).toEqual(made(name));
  });

  it('are asked for by no other address', () => {
    expect(ofAddress('throttle@example.com')).toBeUndefined();
    expect(ofAddress('throttle@simulator.amazonses.com')).toBeUndefined();
    expect(ofAddress('somebody@simulator.localhost')).toBeUndefined();
  });

  it.each([
    ['reset-unread', { kind: 'reset', moment: 'unread' }],
    ['reset-before', { kind: 'reset', moment: 'read' }],
    ['reset-after-accept', { kind: 'reset', moment: 'taken' }],
    ['silent', { kind: 'silent', taken: false }],
    ['silent-after-accept', { kind: 'silent', taken: true }],
  ] as const)('%s says what SES has of the mail', (name, fault) => {
    expect(made(name)).toEqual(fault);
  });
});

const asSeen = (fault: Fault | undefined) => {
  if (fault?.kind !== 'refuse') throw new Error('not a refusal');
  const { name, message, status } = fault.refusal;
  return classify({ name, message, httpStatus: status }, FROM);
};

describe('a refusal is taken by the sender for', () => {
  it.each([
    ['throttle', 'throttled', 'ACCOUNT_THROTTLED'],
    ['quota', 'account', 'ACCOUNT_DAILY_QUOTA_EXCEEDED'],
    ['quota:LimitExceededException', 'account', 'ACCOUNT_DAILY_QUOTA_EXCEEDED'],
    ['quota:ThrottlingException', 'account', 'ACCOUNT_DAILY_QUOTA_EXCEEDED'],
    ['quota:TooManyRequestsException', 'account', 'ACCOUNT_DAILY_QUOTA_EXCEEDED'],
    ['paused', 'account', 'ACCOUNT_SENDING_PAUSED'],
    ['suspended', 'account', 'ACCOUNT_SUSPENDED'],
    ['rejected-from', 'account', 'FROM_IDENTITY_NOT_VERIFIED'],
    ['mail-from', 'account', 'MAIL_FROM_DOMAIN_NOT_VERIFIED'],
    ['access-denied', 'account', 'ACCESS_DENIED'],
    ['paused-as-rejected', 'account', 'ACCOUNT_SENDING_PAUSED'],
    ['credentials', 'credentials', 'CREDENTIALS_REFUSED'],
    ['no-configuration-set', 'account', 'CONFIGURATION_SET_NOT_FOUND'],
    ['rejected', 'permanent', 'RECIPIENT_NOT_VERIFIED'],
    ['rejected-content', 'permanent', 'MESSAGE_REJECTED'],
    ['bad-request', 'permanent', 'INVALID_PARAMETER'],
    ['conflict', 'transient', 'TRANSIENT_FAILURE'],
    ['server-error', 'unclear', 'SERVICE_ERROR'],
  ])('%s: %s', (name, kind, code) => {
    expect(asSeen(made(name))).toEqual({ kind, code });
  });
});

describe('the plan of faults', () => {
  const planOf = (...orders: object[]) => {
    const plan = createFaultPlan();
    for (const order of orders) plan.add(PlannedFault.parse(order));
    return plan;
  };

  it('meets the next calls, as often as ordered', () => {
    const plan = planOf({ fault: 'paused', times: 2 });

    const kinds = [1, 2, 3].map(() => plan.next('SendEmail', callTo('a@b'))?.kind);

    expect(kinds).toEqual(['refuse', 'refuse', undefined]);
    expect(plan.list()).toEqual([]);
  });

  it('tells how many times are left', () => {
    const plan = planOf({ fault: 'paused', times: 2 });
    plan.next('SendEmail', callTo('a@b'));

    expect(plan.list()).toEqual([{ fault: 'paused', operation: 'SendEmail', times: 1 }]);
  });

  it('meets only the recipients and the operation it names', () => {
    const plan = planOf({ fault: 'silent', recipient: 'kim@' }, { fault: 'throttle', operation: 'GetEmailTemplate' });

    expect(plan.next('SendEmail', callTo('lee@example.com'))).toBeUndefined();
    expect(plan.next('SendEmail', callTo('kim@example.com'))).toMatchObject({ kind: 'silent' });
    expect(plan.next('GetEmailTemplate')).toMatchObject({ kind: 'refuse' });
    expect(plan.next('GetAccount')).toBeUndefined();
  });

  it('meets only the mails of the dispatch it names, and no canary (V32)', () => {
    const plan = planOf({ fault: 'access-denied', dispatchId: 'd-1' });

    expect(plan.next('SendEmail', { ...callTo('kim@example.com'), dispatchId: 'd-2' })).toBeUndefined();
    expect(plan.next('SendEmail', callTo('success@simulator.amazonses.com'))).toBeUndefined();
    expect(plan.next('SendEmail', { ...callTo('kim@example.com'), dispatchId: 'd-1' })).toMatchObject({ kind: 'refuse' });
  });

  it('meets the share of the calls that was ordered, the same ones for the same seed', () => {
    const run = (seed: number) => {
      const plan = planOf({ fault: 'throttle', share: 0.05, seed });
      return Array.from({ length: 2_000 }, () => plan.next('SendEmail', callTo('a@b')) !== undefined);
    };

    const met = run(7).filter(Boolean).length;

    expect(met).toBeGreaterThan(60);
    expect(met).toBeLessThan(140);
    expect(run(7)).toEqual(run(7));
    expect(run(8)).not.toEqual(run(7));
  });

  it('breaks a connection unread before any other fault is asked for', () => {
    const plan = planOf({ fault: 'reset-unread', times: 1 }, { fault: 'throttle' });

    expect([plan.breaksUnread(), plan.breaksUnread()]).toEqual([true, false]);
    expect(plan.next('SendEmail', callTo('a@b'))).toMatchObject({ kind: 'refuse' });
  });

  it('is empty after it was cleared', () => {
    const plan = planOf({ fault: 'silent' });
    plan.clear();

    expect(plan.next('SendEmail', callTo('a@b'))).toBeUndefined();
  });

  it.each([
    { fault: 'unheard-of' },
    { fault: 'throttle', times: 0 },
    { fault: 'throttle', share: 1.5 },
    { fault: 'throttle', unheard: 1 },
    { fault: 'reset-unread', recipient: 'kim@' },
  ])('refuses %j', (bad) => {
    expect(PlannedFault.safeParse(bad).success).toBe(false);
  });
});
