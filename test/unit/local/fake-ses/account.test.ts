import { beforeEach, describe, expect, it } from 'vitest';

import { createAccount } from '../../../../local/fake-ses/account.ts';

const DAY_MS = 86_400_000;
let now = 0;
beforeEach(() => {
  now = 10 * DAY_MS;
});
const account = (perSecond: number, perDay = 1_000) => createAccount({ perSecond, perDay }, () => now);

describe('the sending account', () => {
  it('takes a second’s worth at once and then as much as comes in', () => {
    const { take } = account(2);
    expect([take(1), take(1), take(1)?.name]).toEqual([undefined, undefined, 'TooManyRequestsException']);
    now += 500;
    expect([take(1), take(1)?.message]).toEqual([undefined, 'Maximum sending rate exceeded.']);
  });

  it('saves nothing up beyond a second', () => {
    const { take } = account(2);
    now += 60_000;
    expect([take(1), take(1), take(1)?.status]).toEqual([undefined, undefined, 429]);
  });

  it('refuses beyond the quota of 24 hours, which moves with time', () => {
    const { take, count, describe: state } = account(100, 2);
    count(2, now);
    expect(take(1)).toMatchObject({ status: 400, message: 'Daily message quota exceeded.' });
    expect(state().SendQuota).toEqual({ Max24HourSend: 2, MaxSendRate: 100, SentLast24Hours: 2 });
    now += DAY_MS + 1;
    expect(take(1)).toBeUndefined();
  });

  it('does not count what goes to the mailbox simulator against that quota, only against the rate', () => {
    const { take, count } = account(1, 2);
    count(2, now);
    expect([take(1, 0), take(1, 0)?.status]).toEqual([undefined, 429]);
  });

  it('goes by changed limits at once', () => {
    const { take, change } = account(100);
    change({ perSecond: 1 });
    expect([take(1), take(1)?.status]).toEqual([undefined, 429]);
  });

  it('takes nothing while its sending is paused, and says so', () => {
    const { take, change, describe: state } = account(100);
    change({ sendingEnabled: false });
    expect(take(1)).toMatchObject({ status: 400, name: 'SendingPausedException' });
    expect(state()).toMatchObject({ SendingEnabled: false, EnforcementStatus: 'HEALTHY' });
    change({ sendingEnabled: true });
    expect(take(1)).toBeUndefined();
  });

  it('takes nothing once AWS has shut it down', () => {
    const { take, change, describe: state } = account(100);
    change({ enforcement: 'SHUTDOWN' });
    expect(take(1, 0)).toMatchObject({ status: 400, name: 'AccountSuspendedException' });
    expect(state()).toMatchObject({ SendingEnabled: false, EnforcementStatus: 'SHUTDOWN' });
  });
});
