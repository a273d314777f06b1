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
export const AUTO_STACK = { ...LONGER_CALLS, LOCAL_CRASH_POINTS: '1', UNKNOWN_AFTER_SECONDS: '20' };
export const MANUAL_STACK = { ...LONGER_CALLS, LOCAL_CRASH_POINTS: '1', UNCLEAR_POLICY: 'manual', MAX_CONCURRENCY: '2' };
/** Senders learn this rate before they send, and so are not throttled; slow enough to step in while mails go out. */
export const SLOW_STACK = { LOCAL_CRASH_POINTS: '1', LOCAL_SES_RATE: '60' };
