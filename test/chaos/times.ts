/** Settings of a stack, short enough for a run to see what follows each time; their order is the product's. */
export const SHORT_TIMES: Readonly<Record<string, string>> = {
  SES_TIMEOUT_SECONDS: '2',
  FUNCTION_TIMEOUT_SECONDS: '6',
  LEASE_SECONDS: '9',
  VISIBILITY_SECONDS: '10',
  FEEDBACK_TIMEOUT_SECONDS: '2',
  FEEDBACK_VISIBILITY_SECONDS: '3',
  WATERMARK_MARGIN_SECONDS: '4',
  BEHIND_AFTER_SECONDS: '3',
  // Long enough for an event to come late on a busy machine: after it nobody gets the mail.
  UNKNOWN_AFTER_SECONDS: '60',
  BACKOFF_BASE_SECONDS: '1',
  PAUSE_BASE_SECONDS: '1',
  PAUSE_CAP_SECONDS: '4',
  PAUSE_LOOK_SECONDS: '3',
  STUCK_AFTER_SECONDS: '3',
  REVISIT_SECONDS: '2',
  SWEEP_SECONDS: '2',
  RESOLVE_SECONDS: '1',
};
