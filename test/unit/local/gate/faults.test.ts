import { describe, expect, it } from 'vitest';

import { faultOfAddress, FAULTS, makeFault } from '../../../../local/gate/faults.ts';
import { createFaultPlan, PlannedFault } from '../../../../local/gate/plan.ts';

describe('faults', () => {
  it.each(Object.keys(FAULTS))('%s can be asked for by address', (name) => {
    expect(faultOfAddress(`${name}@simulator.localhost`)).toEqual(makeFault(name, `${name}@simulator.localhost`));
  });

  it('take an argument after a colon, or after a plus in an address', () => {
    expect(makeFault('slow:5', 'a@b')).toEqual({ kind: 'slow', seconds: 5 });
    expect(faultOfAddress('slow+5@simulator.localhost')).toEqual({ kind: 'slow', seconds: 5 });
    expect(makeFault('quota:ThrottlingException', 'a@b')).toMatchObject({ refusal: { name: 'ThrottlingException' } });
  });

  it('are asked for by no other address', () => {
    expect(faultOfAddress('throttle@example.com')).toBeUndefined();
    expect(faultOfAddress('success@simulator.amazonses.com')).toBeUndefined();
    expect(faultOfAddress('somebody@simulator.localhost')).toBeUndefined();
  });

  it('name the rejected identity, as SES does', () => {
    expect(makeFault('rejected', 'kim@example.com')).toMatchObject({
      refusal: { name: 'MessageRejected', message: expect.stringContaining('kim@example.com') as string },
    });
  });
});

describe('the plan of faults', () => {
  const order = (fault: object) => PlannedFault.parse(fault);

  it('meets the next calls, as often as ordered', () => {
    const plan = createFaultPlan();
    plan.add(order({ fault: 'paused', times: 2 }));
    const kinds = [1, 2, 3].map(() => plan.next('SendEmail', 'a@b')?.kind);
    expect(kinds).toEqual(['refuse', 'refuse', undefined]);
    expect(plan.list()).toEqual([]);
  });

  it('meets only the recipients and the operation it names', () => {
    const plan = createFaultPlan();
    plan.add(order({ fault: 'silent', recipient: 'kim@' }));
    plan.add(order({ fault: 'throttle', operation: 'GetEmailTemplate' }));
    expect(plan.next('SendEmail', 'lee@example.com')).toBeUndefined();
    expect(plan.next('SendEmail', 'kim@example.com')).toEqual({ kind: 'silent' });
    expect(plan.next('GetEmailTemplate', '')).toMatchObject({ kind: 'refuse' });
    expect(plan.next('GetAccount', '')).toBeUndefined();
  });

  it('is empty after it was cleared', () => {
    const plan = createFaultPlan();
    plan.add(order({ fault: 'silent' }));
    plan.clear();
    expect(plan.next('SendEmail', 'a@b')).toBeUndefined();
  });

  it.each([{ fault: 'unheard-of' }, { fault: 'throttle', times: 0 }, { fault: 'throttle', unheard: 1 }])('refuses %j', (bad) => {
    expect(PlannedFault.safeParse(bad).success).toBe(false);
  });
});
