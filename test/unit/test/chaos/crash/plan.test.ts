import { describe, expect, it } from 'vitest';

import { CrashOrder, createCrashPlan } from '../../../../chaos/crash/plan.ts';

const planOf = (...orders: object[]) => {
  const plan = createCrashPlan();
  for (const order of orders) plan.add(CrashOrder.parse(order));
  return plan;
};
const claim = {
  functionName: 'send-recipients-function',
  service: 'dynamodb',
  operation: 'BatchExecuteStatement',
  when: 'after',
  body: Buffer.from('SET attempts=list_append(attempts, ?)'),
} as const;

describe('the plan of crashes', () => {
  it('strikes at a named point, as often as ordered, and tells how often it did', () => {
    const plan = planOf({ point: 'after-claim', times: 2 });

    expect([1, 2, 3].map(() => plan.strikes(claim))).toEqual([true, true, false]);
    expect(plan.list()).toMatchObject([{ function: 'send-recipients', times: 2, fired: 2 }]);
  });

  it.each([
    ['another function', { functionName: 'sweep-function' }],
    ['another service', { service: 'sqs' as const }],
    ['another call', { operation: 'GetItem' }],
    ['the other side of the call', { when: 'before' as const }],
    ['a request with another text', { body: Buffer.from('SET status=?') }],
  ])('does not strike for %s', (_, other) => {
    expect(planOf({ point: 'after-claim' }).strikes({ ...claim, ...other })).toBe(false);
  });

  it('strikes at any call, and for one recipient only if asked to', () => {
    const order = { function: 'sweep', service: 'dynamodb', operation: 'Query', when: 'before', match: 'apply-7' };
    const plan = planOf(order);
    const query = { functionName: 'sweep-function', service: 'dynamodb', operation: 'Query', when: 'before' } as const;

    expect(plan.strikes({ ...query, body: Buffer.from('apply-8') })).toBe(false);
    expect(plan.strikes({ ...query, body: Buffer.from('"apply-7"') })).toBe(true);
  });

  it('strikes at a named point only when the call is about the dispatch that was named', () => {
    const plan = planOf({ point: 'after-claim', about: 'DISPATCH#d-2' });
    const about = (id: string) => plan.strikes({ ...claim, body: Buffer.from(`list_append(attempts, ?) DISPATCH#${id}#0`) });

    expect([about('d-1'), about('d-2')]).toEqual([false, true]);
  });

  it('strikes no more after it was cleared', () => {
    const plan = planOf({ point: 'after-claim' });
    plan.clear();

    expect(plan.strikes(claim)).toBe(false);
  });

  it.each([{ point: 'after-lunch' }, { point: 'after-claim', times: 0 }, { function: 'sweep' }])('refuses %j', (bad) => {
    expect(CrashOrder.safeParse(bad).success).toBe(false);
  });
});
