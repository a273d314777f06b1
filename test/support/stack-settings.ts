import { join } from 'node:path';

import { ROOT } from '../../local/settings.ts';

/** For `LOCAL_HOOKS`: functions can be killed at chosen calls, and be cut off from a service. */
export const CRASH_HOOKS = join(ROOT, 'test/chaos/crash/hooks.ts');

/** A late event on a busy machine leaves nobody UNKNOWN, unless tests want to see that. */
export const UNHURRIED = { UNKNOWN_AFTER_SECONDS: '600' };

/** For runs in which nothing may be taken for unclear only because the machine is busy: the product's own times. */
export const PATIENT_TIMES = {
  SES_TIMEOUT_SECONDS: '10',
  FUNCTION_TIMEOUT_SECONDS: '30',
  LEASE_SECONDS: '300',
  VISIBILITY_SECONDS: '360',
  FEEDBACK_TIMEOUT_SECONDS: '10',
  FEEDBACK_VISIBILITY_SECONDS: '60',
};

/** Where no event comes, a call that a busy machine cuts off would leave somebody UNKNOWN. */
export const LONGER_CALLS = { SES_TIMEOUT_SECONDS: '5', FUNCTION_TIMEOUT_SECONDS: '8' };

/** Settings that several test files share, so that they share a stack. */
export const AUTO_STACK = { ...LONGER_CALLS, LOCAL_HOOKS: CRASH_HOOKS, UNKNOWN_AFTER_SECONDS: '20' };
export const MANUAL_STACK = { ...LONGER_CALLS, LOCAL_HOOKS: CRASH_HOOKS, UNCLEAR_POLICY: 'manual', MAX_CONCURRENCY: '2' };
/** Senders learn this rate before they send, and so are not throttled; slow enough to step in while mails go out. */
export const SLOW_STACK = { LOCAL_HOOKS: CRASH_HOOKS, LOCAL_SES_RATE: '60' };
