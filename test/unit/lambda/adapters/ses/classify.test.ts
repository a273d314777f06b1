import { describe, expect, it } from 'vitest';

import { classify, type SesFailure } from '../../../../../lambda/adapters/ses/classify.ts';
import type { SendAnswer } from '../../../../../lambda/domain/sending/send-answer.ts';

const FROM = 'Recruiting <Jobs@Example.org>';
const UNVERIFIED = 'Email address is not verified. The following identities failed the check in region EU-WEST-1: ';

const answered = (httpStatus: number, name: string, message = ''): SesFailure => ({ httpStatus, name, message });
const silent = (name: string, rest: Partial<SesFailure> = {}): SesFailure => ({ name, message: '', ...rest });

describe('a refusal by SES is', () => {
  it.each<[Exclude<SendAnswer['kind'], 'accepted'>, string, string, SesFailure]>([
    ['throttled', 'ACCOUNT_THROTTLED', '429', answered(429, 'TooManyRequestsException', 'Maximum sending rate exceeded.')],
    ['throttled', 'ACCOUNT_THROTTLED', '429 under a name nobody knows', answered(429, 'Unknown')],
    ['throttled', 'ACCOUNT_THROTTLED', 'the rate under Throttling', answered(400, 'Throttling', 'Maximum sending rate exceeded')],
    [
      'throttled',
      'ACCOUNT_THROTTLED',
      'the rate under LimitExceeded',
      answered(400, 'LimitExceededException', 'Maximum sending rate exceeded.'),
    ],
    [
      'throttled',
      'ACCOUNT_THROTTLED',
      'the rate under MessageRejected',
      answered(400, 'MessageRejected', 'Maximum sending rate exceeded.'),
    ],
    ['throttled', 'ACCOUNT_THROTTLED', 'a limit without a text', answered(400, 'LimitExceededException')],
    ['throttled', 'ACCOUNT_THROTTLED', 'a throttle without a text', answered(400, 'ThrottlingException')],

    [
      'account',
      'ACCOUNT_DAILY_QUOTA_EXCEEDED',
      'the quota under LimitExceeded (S6)',
      answered(400, 'LimitExceededException', 'Daily message quota exceeded.'),
    ],
    [
      'account',
      'ACCOUNT_DAILY_QUOTA_EXCEEDED',
      'the quota under Throttling (S6)',
      answered(400, 'ThrottlingException', 'Daily message quota exceeded'),
    ],
    [
      'account',
      'ACCOUNT_DAILY_QUOTA_EXCEEDED',
      'the quota under 429 (S6)',
      answered(429, 'TooManyRequestsException', 'Daily message quota exceeded.'),
    ],
    ['account', 'ACCOUNT_SENDING_PAUSED', 'sending paused (S9)', answered(400, 'SendingPausedException')],
    ['account', 'ACCOUNT_SUSPENDED', 'the account suspended', answered(400, 'AccountSuspendedException')],
    ['account', 'MAIL_FROM_DOMAIN_NOT_VERIFIED', 'an unverified domain', answered(400, 'MailFromDomainNotVerifiedException')],
    ['account', 'ACCESS_DENIED', 'no permission', answered(403, 'AccessDeniedException')],
    ['account', 'ACCESS_DENIED', '403 under a name nobody knows', answered(403, 'Unknown')],
    [
      'account',
      'ACCOUNT_SENDING_PAUSED',
      'sending paused as a rejected message (V3)',
      answered(400, 'MessageRejected', 'Sending paused for this account. For more information, please check the inbox.'),
    ],
    [
      'account',
      'ACCOUNT_SENDING_PAUSED',
      'sending paused as a bad request (V3)',
      answered(400, 'BadRequestException', 'Sending is currently paused for configuration set mails'),
    ],
    ['account', 'ACCOUNT_SENDING_PAUSED', 'sending paused by its older name', answered(400, 'AccountSendingPausedException')],
    ['account', 'ACCOUNT_SENDING_PAUSED', 'sending paused with 403', answered(403, 'SendingPausedException')],
    ['account', 'ACCOUNT_SUSPENDED', 'the account suspended with 403', answered(403, 'AccountSuspendedException')],
    ['permanent', 'MESSAGE_REJECTED', 'content rejected with 403', answered(403, 'MessageRejected', 'Virus detected')],

    ['credentials', 'CREDENTIALS_REFUSED', 'an expired token (V35)', answered(403, 'ExpiredTokenException')],
    ['credentials', 'CREDENTIALS_REFUSED', 'an expired token by its older name', answered(400, 'ExpiredToken')],
    ['credentials', 'CREDENTIALS_REFUSED', 'a bad signature', answered(403, 'InvalidSignatureException')],
    ['credentials', 'CREDENTIALS_REFUSED', 'an unknown client', answered(403, 'UnrecognizedClientException')],
    ['credentials', 'CREDENTIALS_REFUSED', 'an unknown token', answered(403, 'InvalidClientTokenId')],
    ['credentials', 'CREDENTIALS_REFUSED', '401', answered(401, 'Unknown')],
    ['account', 'CONFIGURATION_SET_NOT_FOUND', 'a missing configuration set', answered(404, 'NotFoundException')],
    [
      'account',
      'FROM_IDENTITY_NOT_VERIFIED',
      'our address unverified (S8)',
      answered(400, 'MessageRejected', `${UNVERIFIED}jobs@example.org`),
    ],
    [
      'account',
      'FROM_IDENTITY_NOT_VERIFIED',
      'our address unverified, with its name (S8)',
      answered(400, 'MessageRejected', `${UNVERIFIED}kim@example.com, Recruiting <jobs@example.org>`),
    ],
    [
      'account',
      'FROM_IDENTITY_NOT_VERIFIED',
      'our domain unverified (S8)',
      answered(400, 'MessageRejected', `${UNVERIFIED}example.org`),
    ],

    [
      'account',
      'FROM_IDENTITY_NOT_VERIFIED',
      'our address cut off at the end of the list (S8)',
      answered(400, 'MessageRejected', `${UNVERIFIED}kim@example.com, Recruiting <jobs@exa...`),
    ],
    [
      'account',
      'FROM_IDENTITY_NOT_VERIFIED',
      'a list that was cut before our address (S8)',
      answered(400, 'MessageRejected', `${UNVERIFIED}kim@example.com, ...`),
    ],

    [
      'permanent',
      'RECIPIENT_NOT_VERIFIED',
      'the recipient unverified in the sandbox (S8)',
      answered(400, 'MessageRejected', `${UNVERIFIED}kim@example.com`),
    ],
    [
      'permanent',
      'RECIPIENT_NOT_VERIFIED',
      'an address that only ends as ours (S8)',
      answered(400, 'MessageRejected', `${UNVERIFIED}more-jobs@example.org`),
    ],
    ['permanent', 'MESSAGE_REJECTED', 'content rejected', answered(400, 'MessageRejected', 'Virus detected')],
    ['permanent', 'INVALID_PARAMETER', 'a bad request (S10)', answered(400, 'BadRequestException', 'Illegal address')],

    ['transient', 'TRANSIENT_FAILURE', 'a 4xx nobody knows', answered(400, 'BrandNewException', 'kim@example.com is odd')],
    ['transient', 'TRANSIENT_FAILURE', 'a 400 of a proxy', answered(400, 'SyntaxError', 'Unexpected token <')],
    ['transient', 'TRANSIENT_FAILURE', 'a 403 of a proxy (V34)', answered(403, 'SyntaxError', 'Unexpected token <')],
    ['transient', 'TRANSIENT_FAILURE', 'a 404 of a proxy', answered(404, 'SyntaxError', 'Unexpected token <')],

    ['unclear', 'SERVICE_ERROR', '500', answered(500, 'InternalServiceErrorException')],
    ['unclear', 'SERVICE_ERROR', '502', answered(502, 'Unknown')],
    ['unclear', 'SERVICE_ERROR', '503 as HTML (S4)', answered(503, 'SyntaxError', "Unexpected token '<'")],
    ['unclear', 'SERVICE_ERROR', '504', answered(504, 'Unknown')],
    [
      'unclear',
      'SERVICE_ERROR',
      'a 5xx, even if it speaks of the rate',
      answered(503, 'Throttling', 'Maximum sending rate exceeded'),
    ],
    ['unclear', 'ANSWER_CUT_OFF', '200 cut short (S3)', answered(200, 'SyntaxError', 'Unterminated string in JSON')],
  ])('%s, %s: %s', (kind, code, _name, failure) => {
    expect(classify(failure, FROM)).toEqual({ kind, code });
  });
});

describe('without an answer of SES it is', () => {
  it.each<[Exclude<SendAnswer['kind'], 'accepted'>, string, SesFailure]>([
    ['transient', 'ECONNREFUSED (S5)', silent('Error', { code: 'ECONNREFUSED' })],
    ['transient', 'ENOTFOUND (S5)', silent('Error', { code: 'ENOTFOUND' })],
    ['transient', 'EAI_AGAIN (S5)', silent('Error', { code: 'EAI_AGAIN' })],
    ['transient', 'EHOSTUNREACH', silent('Error', { code: 'EHOSTUNREACH' })],
    ['transient', 'ENETUNREACH', silent('Error', { code: 'ENETUNREACH' })],
    [
      'transient',
      'no connection in time (S5)',
      silent('TimeoutError', {
        message: 'the request socket did not establish a connection with the server within the configured timeout of 3000 ms.',
      }),
    ],
    ['transient', 'a timeout of the kernel while connecting', silent('TimeoutError', { code: 'ETIMEDOUT', beforeWrite: true })],
    ['credentials', 'no credentials at hand', silent('CredentialsProviderError')],
    ['unclear', 'ECONNRESET (S1)', silent('TimeoutError', { code: 'ECONNRESET' })],
    ['unclear', 'EPIPE', silent('TimeoutError', { code: 'EPIPE' })],
    ['unclear', 'ETIMEDOUT (S2)', silent('TimeoutError', { code: 'ETIMEDOUT' })],
    ['unclear', 'an abort', silent('AbortError')],
    ['unclear', 'an error nobody knows', silent('Error')],
  ])('%s: %s', (kind, _name, failure) => {
    expect(classify(failure, FROM).kind).toBe(kind);
  });
});
