import type { IncomingMessage, ServerResponse } from 'node:http';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createMailProvider } from '../../lambda/adapters/ses/mail-provider.ts';
import { createSesClient } from '../../lambda/adapters/ses/ses-client.ts';
import type { SendAnswer } from '../../lambda/domain/sending/send-answer.ts';
import { json, type SesServer, startSesServer } from '../support/ses-server.ts';

/** How the real client behaves, not how its documents say it does: each case is a real request to a server of ours. */
const TIMEOUT_SECONDS = 0.3;
const UNVERIFIED = 'Email address is not verified. The following identities failed the check in region EU-WEST-1: ';

let server: SesServer | undefined;

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  vi.stubEnv('AWS_REGION', 'eu-west-1');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await server?.stop();
  server = undefined;
});

const sendTo = async (url: string): Promise<{ readonly answer: SendAnswer; readonly ms: number }> => {
  vi.stubEnv('AWS_ENDPOINT_URL_SESV2', url);
  const client = createSesClient(TIMEOUT_SECONDS);
  const provider = createMailProvider({
    client,
    configurationSet: 'mail-events',
    timeoutSeconds: TIMEOUT_SECONDS,
  });
  const startedAt = performance.now();
  const answer = await provider.send(
    { from: 'Recruiting <jobs@example.org>', to: 'kim@example.com', subject: 'Hello', text: 'Dear Kim' },
    { dispatchId: 'd1', shard: 0, applyId: 'a-1', round: 1, attempt: 1, lease: 'l-1' },
  );
  client.destroy();
  return { answer, ms: performance.now() - startedAt };
};

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const sendWith = async (answer: Answer) => {
  server = await startSesServer(answer);
  return sendTo(server.url);
};

describe('an answer that was lost is unclear, after exactly one POST', () => {
  it.each<[string, Answer, string]>([
    ['the socket dies after the mail was read (S1)', (request) => request.socket.destroy(), 'TIMED_OUT'],
    ['the answer does not come in time (S2)', () => undefined, 'TIMED_OUT'],
    ['200 with half a body (S3)', json(200, '{"MessageId":"0102'), 'ANSWER_CUT_OFF'],
    [
      '200 whose body breaks off with the connection (S3)',
      (request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
        response.write('{"MessageId":"0102', () => request.socket.destroy());
      },
      'ANSWER_CUT_OFF',
    ],
    [
      '200 whose body never ends (S2)',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
        response.write('{"MessageId":"0102');
      },
      'ANSWER_CUT_OFF',
    ],
    ['200 without a body', json(200, ''), 'ANSWER_CUT_OFF'],
    [
      '503 with a page of HTML (S4)',
      (_request, response) => {
        response.writeHead(503, { 'content-type': 'text/html' });
        response.end('<html><body>Service Unavailable</body></html>');
      },
      'SERVICE_ERROR',
    ],
    ['502 of a proxy that says it in JSON', json(502, { message: 'oops' }, 'InternalServiceErrorException'), 'SERVICE_ERROR'],
    ['504 of a proxy that says it in JSON', json(504, { message: 'oops' }, 'InternalServiceErrorException'), 'SERVICE_ERROR'],
    ['503 with JSON of somebody else', json(503, { error: 'unavailable' }), 'SERVICE_ERROR'],
    ['500 without a body', json(500, '', 'InternalServiceErrorException'), 'SERVICE_ERROR'],
  ])('%s', async (_name, respond, code) => {
    const { answer, ms } = await sendWith(respond);

    expect(answer).toEqual({ kind: 'unclear', code });
    expect(server?.posts).toHaveLength(1);
    expect(ms).toBeLessThan(TIMEOUT_SECONDS * 1000 + 700);
  });
});

describe('an error of SES itself is unclear as well, but its answer was not lost', () => {
  it.each([
    [500, 'InternalServiceErrorException'],
    [503, 'ServiceUnavailableException'],
  ])('%i %s', async (status, name) => {
    const { answer } = await sendWith(json(status, { message: 'oops' }, name));

    expect(answer).toEqual({ kind: 'unclear', code: 'SERVICE_ERROR', answered: true });
    expect(server?.posts).toHaveLength(1);
  });
});

it('a 403 with a page of a proxy is transient: it says nothing about the account (V34)', async () => {
  const { answer } = await sendWith((_request, response) => {
    response.writeHead(403, { 'content-type': 'text/html' });
    response.end('<html><body>Forbidden</body></html>');
  });

  expect(answer).toEqual({ kind: 'transient', code: 'TRANSIENT_FAILURE' });
});

describe('a refusal of SES is known as what it is, after exactly one POST', () => {
  it.each<[string, number, string, string, SendAnswer]>([
    [
      '429 (S7)',
      429,
      'TooManyRequestsException',
      'Maximum sending rate exceeded.',
      { kind: 'throttled', code: 'ACCOUNT_THROTTLED' },
    ],
    [
      'the quota as LimitExceededException (S6)',
      400,
      'LimitExceededException',
      'Daily message quota exceeded.',
      { kind: 'account', code: 'ACCOUNT_DAILY_QUOTA_EXCEEDED' },
    ],
    [
      'the quota as ThrottlingException (S6)',
      400,
      'ThrottlingException',
      'Daily message quota exceeded',
      { kind: 'account', code: 'ACCOUNT_DAILY_QUOTA_EXCEEDED' },
    ],
    [
      'the quota as TooManyRequestsException (S6)',
      429,
      'TooManyRequestsException',
      'Daily message quota exceeded.',
      { kind: 'account', code: 'ACCOUNT_DAILY_QUOTA_EXCEEDED' },
    ],
    [
      'our own identity unverified (S8)',
      400,
      'MessageRejected',
      `${UNVERIFIED}jobs@example.org`,
      { kind: 'account', code: 'FROM_IDENTITY_NOT_VERIFIED' },
    ],
    [
      'the recipient unverified (S8)',
      400,
      'MessageRejected',
      `${UNVERIFIED}kim@example.com`,
      { kind: 'permanent', code: 'RECIPIENT_NOT_VERIFIED' },
    ],
    [
      'sending paused (S9)',
      400,
      'SendingPausedException',
      'Sending is paused',
      { kind: 'account', code: 'ACCOUNT_SENDING_PAUSED' },
    ],
    [
      'sending paused as a rejected message (V3)',
      400,
      'MessageRejected',
      'Sending paused for this account.',
      { kind: 'account', code: 'ACCOUNT_SENDING_PAUSED' },
    ],
    ['the account suspended', 400, 'AccountSuspendedException', 'Suspended', { kind: 'account', code: 'ACCOUNT_SUSPENDED' }],
    [
      'the domain not verified',
      400,
      'MailFromDomainNotVerifiedException',
      'Not verified',
      { kind: 'account', code: 'MAIL_FROM_DOMAIN_NOT_VERIFIED' },
    ],
    ['a bad request (S10)', 400, 'BadRequestException', 'Illegal address', { kind: 'permanent', code: 'INVALID_PARAMETER' }],
    ['no permission', 403, 'AccessDeniedException', 'no', { kind: 'account', code: 'ACCESS_DENIED' }],
    ['an expired token (V35)', 403, 'ExpiredTokenException', 'old', { kind: 'credentials', code: 'CREDENTIALS_REFUSED' }],
    [
      'a clock that is off',
      403,
      'InvalidSignatureException',
      'Signature expired: 20260302T090000Z is now earlier',
      { kind: 'credentials', code: 'CREDENTIALS_REFUSED' },
    ],
    [
      'a missing configuration set',
      404,
      'NotFoundException',
      'Configuration set does not exist',
      { kind: 'account', code: 'CONFIGURATION_SET_NOT_FOUND' },
    ],
    ['a name nobody knows', 400, 'BrandNewException', 'hm', { kind: 'transient', code: 'TRANSIENT_FAILURE' }],
  ])('%s', async (_name, status, errorType, message, expected) => {
    const { answer } = await sendWith(json(status, { message }, errorType));

    expect(answer).toEqual(expected);
    expect(server?.posts).toHaveLength(1);
  });
});

describe('a fault before anything was written is transient', () => {
  it('a port that refuses (S5)', async () => {
    const closed = await startSesServer(() => undefined);
    await closed.stop();

    expect((await sendTo(closed.url)).answer).toEqual({ kind: 'transient', code: 'NOT_CONNECTED' });
  });

  it('a name that does not resolve (S5)', async () => {
    const { answer } = await sendTo('http://nonexistent.invalid');

    expect(answer).toEqual({ kind: 'transient', code: 'NOT_CONNECTED' });
  });
});

it('an acceptance brings the id, and the request goes where SES takes mail', async () => {
  const { answer } = await sendWith(json(200, { MessageId: '0102-ses' }));

  expect(answer).toEqual({ kind: 'accepted', messageId: '0102-ses' });
  expect(server?.posts.map(({ path }) => path)).toEqual(['/v2/email/outbound-emails']);
  expect(JSON.parse(server?.posts[0]?.body ?? '')).toMatchObject({
    Destination: { ToAddresses: ['kim@example.com'] },
    ConfigurationSetName: 'mail-events',
    EmailTags: expect.arrayContaining([{ Name: 'recipient', Value: 'YS0x' }]) as unknown,
  });
});

describe('a canary', () => {
  it.each(['=?UTF-8?B?7LGE7Jqp7YyA?= <jobs@example.org>', '"Karen, Chan" <jobs@example.org>'])(
    'from %s goes out with the From header as it is (V5)',
    async (header) => {
      server = await startSesServer(json(200, { MessageId: 'canary-1' }));
      vi.stubEnv('AWS_ENDPOINT_URL_SESV2', server.url);
      const client = createSesClient(TIMEOUT_SECONDS);
      const provider = createMailProvider({ client, configurationSet: 'mail-events', timeoutSeconds: TIMEOUT_SECONDS });

      const answer = await provider.sendCanary(header);

      client.destroy();
      expect(answer).toEqual({ kind: 'accepted', messageId: 'canary-1' });
      expect(JSON.parse(server.posts[0]?.body ?? '')).toMatchObject({
        FromEmailAddress: header,
        Destination: { ToAddresses: ['success@simulator.amazonses.com'] },
        ConfigurationSetName: 'mail-events',
      });
    },
  );
});
