import type { SendAnswer } from '../../domain/send-answer.ts';

/** What is known of a call to SES that ended in an error. */
export interface SesFailure {
  readonly name: string;
  readonly message: string;
  /** Absent: no answer came. */
  readonly httpStatus?: number;
  /** Node's code of a connection fault, such as ECONNREFUSED. */
  readonly code?: string;
  /** Whether it failed while looking up or connecting, whatever the code. */
  readonly beforeWrite?: boolean;
}

type Refusal = Exclude<SendAnswer, { kind: 'accepted' }>;

/** Errors of the account, its identities or its configuration: every mail would meet them. Names: SES v2 SendEmail. */
const ACCOUNT_NAMES: Readonly<Record<string, string>> = {
  AccountSuspendedException: 'ACCOUNT_SUSPENDED',
  SendingPausedException: 'ACCOUNT_SENDING_PAUSED',
  MailFromDomainNotVerifiedException: 'MAIL_FROM_DOMAIN_NOT_VERIFIED',
  NotFoundException: 'CONFIGURATION_SET_NOT_FOUND',
};

/** Faults before anything was written to SES, so that it cannot have the mail. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

const RATE_TEXT = /maximum sending rate exceeded/i;
const QUOTA_TEXT = /daily message quota exceeded/i;
const UNVERIFIED_TEXT = /email address is not verified|identities failed the check/i;
/** Text of the SDK's handler when no connection came about in time. */
const CONNECT_TIMEOUT_TEXT = /did not establish a connection/i;

/**
 * Puts an error of SendEmail into a class: by HTTP status first, then by name, then by message. Codes follow the
 * statuses that SES publishes for SendBulkEmail; the message stays here, since SES quotes addresses in it.
 * @param from the From address of the call, to tell an unverified sender from an unverified recipient
 */
export const classify = (failure: SesFailure, from: string): Refusal => {
  const { httpStatus } = failure;
  if (httpStatus === undefined) return withoutAnswer(failure);
  // A balancer's HTML page, a 5xx, or a 200 that was cut off: SES may have taken the mail.
  if (httpStatus >= 500 || httpStatus < 300)
    return { kind: 'unclear', code: httpStatus >= 500 ? 'SERVICE_ERROR' : 'ANSWER_CUT_OFF' };
  // SES gives quota and rate under several names; its text tells them apart.
  if (QUOTA_TEXT.test(failure.message)) return { kind: 'account', code: 'ACCOUNT_DAILY_QUOTA_EXCEEDED' };
  if (httpStatus === 429 || RATE_TEXT.test(failure.message)) return { kind: 'throttled', code: 'ACCOUNT_THROTTLED' };
  if (httpStatus === 401 || httpStatus === 403) return { kind: 'account', code: 'ACCESS_DENIED' };
  if (httpStatus === 404) return { kind: 'account', code: 'CONFIGURATION_SET_NOT_FOUND' };
  return byName(failure, from);
};

const withoutAnswer = ({ code, message, name, beforeWrite = false }: SesFailure): Refusal => {
  if (beforeWrite || (code !== undefined && NOT_CONNECTED.has(code)) || CONNECT_TIMEOUT_TEXT.test(message))
    return { kind: 'transient', code: 'NOT_CONNECTED' };
  return { kind: 'unclear', code: name === 'TimeoutError' || name === 'AbortError' ? 'TIMED_OUT' : 'CONNECTION_LOST' };
};

const byName = ({ name, message }: SesFailure, from: string): Refusal => {
  const account = ACCOUNT_NAMES[name];
  if (account !== undefined) return { kind: 'account', code: account };
  switch (name) {
    case 'MessageRejected':
      if (!UNVERIFIED_TEXT.test(message)) return { kind: 'permanent', code: 'MESSAGE_REJECTED' };
      return names(message, from)
        ? { kind: 'account', code: 'FROM_IDENTITY_NOT_VERIFIED' }
        : { kind: 'permanent', code: 'RECIPIENT_NOT_VERIFIED' };
    case 'BadRequestException':
      return { kind: 'permanent', code: 'INVALID_PARAMETER' };
    case 'LimitExceededException':
    case 'Throttling':
    case 'ThrottlingException':
    case 'TooManyRequestsException':
      return { kind: 'throttled', code: 'ACCOUNT_THROTTLED' };
    default:
      return { kind: 'transient', code: 'TRANSIENT_FAILURE' };
  }
};

/** Whether SES's list of unverified identities holds the sender's address or its domain. */
const names = (message: string, from: string): boolean => {
  const sender = bareAddress(from);
  const domain = sender.slice(sender.lastIndexOf('@') + 1);
  const listed = message
    .slice(message.lastIndexOf(':') + 1)
    .split(',')
    .map(bareAddress);
  return listed.includes(sender) || listed.includes(domain);
};

/** `Name <a@b>` and `a@b` are the same identity. */
const bareAddress = (text: string): string => (/<([^<>]+)>\s*$/.exec(text)?.[1] ?? text).trim().toLowerCase();
