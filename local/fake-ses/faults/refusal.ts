/** An error of SES by its true name. */
export interface Refusal {
  readonly status: number;
  readonly name: string;
  readonly message: string;
}

/** Makes one. */
export const refusal = (status: number, name: string, message: string): Refusal => ({ status, name, message });

export const RATE_EXCEEDED = refusal(429, 'TooManyRequestsException', 'Maximum sending rate exceeded.');
export const QUOTA_EXCEEDED = refusal(400, 'LimitExceededException', 'Daily message quota exceeded.');
export const SENDING_PAUSED = refusal(
  400,
  'SendingPausedException',
  'Email sending is disabled. Your account is currently paused from sending mail.',
);
export const SUSPENDED = refusal(400, 'AccountSuspendedException', "The account's ability to send email has been suspended.");
