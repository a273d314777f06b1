import type { SendAnswer } from '../../domain/sending/send-answer.ts';

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
  /** Whether the answer was an error of SES: JSON that names it. Otherwise something on the way may have answered. */
  readonly isOfSes?: boolean;
}

type Refusal = Exclude<SendAnswer, { kind: 'accepted' }>;

/** Errors of the account, its identities or its configuration: every mail would meet them. Names: SES v1 and v2. */
const ACCOUNT_NAMES: Readonly<Record<string, string>> = {
  AccountSuspendedException: 'ACCOUNT_SUSPENDED',
  AccountSendingPausedException: 'ACCOUNT_SENDING_PAUSED',
  ConfigurationSetSendingPausedException: 'ACCOUNT_SENDING_PAUSED',
  SendingPausedException: 'ACCOUNT_SENDING_PAUSED',
  MailFromDomainNotVerifiedException: 'MAIL_FROM_DOMAIN_NOT_VERIFIED',
  ConfigurationSetDoesNotExistException: 'CONFIGURATION_SET_NOT_FOUND',
  NotFoundException: 'CONFIGURATION_SET_NOT_FOUND',
  AccessDeniedException: 'ACCESS_DENIED',
};

/** Errors of the credentials that one environment holds: another environment may send at the same time. */
const CREDENTIALS_NAME =
  /^(?:ExpiredToken|UnrecognizedClient|InvalidSignature|IncompleteSignature|SignatureDoesNotMatch|InvalidClientTokenId|MissingAuthenticationToken|RequestExpired|RequestTimeTooSkewed|TokenRefreshRequired)(?:Exception)?$/;

/** Name of the error when no credentials could be loaded, so that no request was made. */
const NO_CREDENTIALS = 'CredentialsProviderError';

/** Faults before anything was written to SES, so that it cannot have the mail. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

const RATE_TEXT = /maximum sending rate exceeded/i;
const QUOTA_TEXT = /daily message quota exceeded/i;
const PAUSED_TEXT = /\bsending (?:\w+ ){0,3}paused\b/i;
const UNVERIFIED_TEXT = /email address is not verified|identities failed the check/i;
/** Text of the SDK's handler when no connection came about in time. */
const CONNECT_TIMEOUT_TEXT = /did not establish a connection/i;

/**
 * Puts an error of SendEmail into a class: what the text says of the account first, then by name, then by HTTP status.
 * Codes follow the statuses that SES publishes for SendBulkEmail; the message stays here, since SES quotes addresses in it.
 * @param from the From address of the call, to tell an unverified sender from an unverified recipient
 */
export const classify = (failure: SesFailure, from: string): Refusal => {
  const { httpStatus } = failure;
  if (httpStatus === undefined) return withoutAnswer(failure);
  // A balancer's HTML page, a 5xx, or a 200 that was cut off: SES may have taken the mail.
  if (httpStatus < 300) return { kind: 'unclear', code: 'ANSWER_CUT_OFF' };
  if (httpStatus >= 500) return { kind: 'unclear', code: 'SERVICE_ERROR', ...(isAnswered(failure) && { answered: true }) };
  // SES gives quota and rate under several names; its text tells them apart.
  if (QUOTA_TEXT.test(failure.message)) return { kind: 'account', code: 'ACCOUNT_DAILY_QUOTA_EXCEEDED' };
  if (httpStatus === 429 || RATE_TEXT.test(failure.message)) return { kind: 'throttled', code: 'ACCOUNT_THROTTLED' };
  // The SDK names an error so when the body is not JSON: a proxy's page says nothing about the account.
  if (failure.name === 'SyntaxError') return { kind: 'transient', code: 'TRANSIENT_FAILURE' };
  if (PAUSED_TEXT.test(failure.message)) return { kind: 'account', code: 'ACCOUNT_SENDING_PAUSED' };
  return byName(failure, from) ?? byStatus(httpStatus);
};

/** SES itself said that it failed. A balancer in front of it answers 502 and 504, or with a page. */
const isAnswered = ({ httpStatus, isOfSes }: SesFailure): boolean =>
  isOfSes === true && (httpStatus === 500 || httpStatus === 503);

const withoutAnswer = ({ code, message, name, beforeWrite = false }: SesFailure): Refusal => {
  if (name === NO_CREDENTIALS) return { kind: 'credentials', code: 'CREDENTIALS_REFUSED' };
  if (beforeWrite || (code !== undefined && NOT_CONNECTED.has(code)) || CONNECT_TIMEOUT_TEXT.test(message))
    return { kind: 'transient', code: 'NOT_CONNECTED' };
  return { kind: 'unclear', code: name === 'TimeoutError' || name === 'AbortError' ? 'TIMED_OUT' : 'CONNECTION_LOST' };
};

const byName = ({ name, message }: SesFailure, from: string): Refusal | undefined => {
  if (CREDENTIALS_NAME.test(name)) return { kind: 'credentials', code: 'CREDENTIALS_REFUSED' };
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
      return undefined;
  }
};

/** For names that nobody knows. */
const byStatus = (httpStatus: number): Refusal => {
  switch (httpStatus) {
    case 401:
      return { kind: 'credentials', code: 'CREDENTIALS_REFUSED' };
    case 403:
      return { kind: 'account', code: 'ACCESS_DENIED' };
    case 404:
      return { kind: 'account', code: 'CONFIGURATION_SET_NOT_FOUND' };
    default:
      return { kind: 'transient', code: 'TRANSIENT_FAILURE' };
  }
};

/**
 * Whether SES's list of unverified identities holds the sender's address or its domain. A list that ends in "..." was cut,
 * and the sender may be in the part that is missing.
 */
const names = (message: string, from: string): boolean => {
  if (/(?:\.{3}|…)\s*$/.test(message)) return true;
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
