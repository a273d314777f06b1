import { appendFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { PublishBatchCommand, SNSClient } from '@aws-sdk/client-sns';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { type FakeSes, startFakeSes } from '../../../../local/fake-ses/fake-ses.ts';
import { readSettings } from '../../../../local/settings.ts';

const sns = mockClient(SNSClient);
const client = new SNSClient({ region: 'us-east-1' });
const DESTINATION = { configurationSet: 'mails', topicArn: 'arn:events', types: ['send', 'delivery', 'bounce'] };

let directory: string;
let fakeSes: FakeSes;
beforeEach(async () => {
  sns.reset();
  sns.on(PublishBatchCommand).resolves({});
  directory = mkdtempSync(join(tmpdir(), 'gate-'));
  await start();
});
afterEach(() => {
  fakeSes.stop();
});

const start = async () => {
  fakeSes = await startFakeSes(
    readSettings({ LOCAL_DIR: directory, LOCAL_SES_PORT: '0', LOCAL_SES_DAILY: '2' }),
    () => undefined,
  );
  fakeSes.addConfigurationSet('mails');
};
const call = async (method: string, path: string, body?: object) => {
  const response = await fetch(`${fakeSes.address}${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
  return {
    status: response.status,
    error: response.headers.get('x-amzn-errortype'),
    body: (await response.json()) as Record<string, unknown>,
  };
};
const send = (to: string, others: object = { ConfigurationSetName: 'mails' }) =>
  call('POST', '/v2/email/outbound-emails', {
    FromEmailAddress: 'hr@example.org',
    Destination: { ToAddresses: [to] },
    Content: { Simple: { Subject: { Data: 's' }, Body: { Text: { Data: 't' } } } },
    ...others,
  });
const journal = async () => (await call('GET', '/_gate/journal')).body as unknown as { to: string[] }[];
const events = async () => (await call('GET', '/_gate/events')).body;
const published = () =>
  sns.commandCalls(PublishBatchCommand).flatMap(({ args: [{ input }] }) => (input.PublishBatchRequestEntries ?? []).length);

describe('the gate', () => {
  it('publishes the events of a mail that it took', async () => {
    fakeSes.publishEvents(client, [DESTINATION]);
    await send('bounce@simulator.amazonses.com');

    await vi.waitFor(async () => {
      expect(await events()).toMatchObject({ published: 2, waiting: 0 });
    });
  });

  it('publishes none about a mail without a configuration set', async () => {
    fakeSes.publishEvents(client, [DESTINATION]);
    await send('kim@example.com', {});

    expect(await events()).toMatchObject({ published: 0, waiting: 0 });
    expect(published()).toEqual([]);
  });

  it('counts mails to people against the quota, and none to the simulator', async () => {
    await send('success@simulator.amazonses.com');
    await send('kim@example.com');
    await send('lee@example.com');

    expect(await send('park@example.com')).toMatchObject({ status: 400, error: 'LimitExceededException' });
    expect((await send('success+canary@simulator.amazonses.com')).status).toBe(200);
  });

  it('refuses everything while the account is paused or suspended', async () => {
    await call('PUT', '/_gate/account', { sendingEnabled: false });
    expect(await send('kim@example.com')).toMatchObject({ status: 400, error: 'SendingPausedException' });

    await call('PUT', '/_gate/account', { sendingEnabled: true, enforcement: 'SHUTDOWN' });
    expect(await send('kim@example.com')).toMatchObject({ status: 400, error: 'AccountSuspendedException' });
    expect((await call('GET', '/v2/email/account')).body).toMatchObject({ EnforcementStatus: 'SHUTDOWN', SendingEnabled: false });
  });

  it('breaks a connection before it reads what the mail is', async () => {
    await call('POST', '/_gate/faults', { fault: 'reset-unread', times: 1 });

    await expect(send('kim@example.com')).rejects.toThrow();
    expect(await journal()).toEqual([]);
    expect((await send('kim@example.com')).status).toBe(200);
  });

  it.each(['reset-after-accept', 'half-answer', 'slow+60', 'silent-after-accept'])('has taken the mail of %s', async (name) => {
    const to = `${name}@simulator.localhost`;
    const cutOff = AbortSignal.timeout(200);
    const answer = fetch(`${fakeSes.address}/v2/email/outbound-emails`, {
      method: 'POST',
      signal: cutOff,
      body: JSON.stringify({
        FromEmailAddress: 'hr@example.org',
        Destination: { ToAddresses: [to] },
        Content: { Simple: { Subject: { Data: 's' }, Body: { Text: { Data: 't' } } } },
      }),
    }).then((response) => response.json());

    await expect(answer).rejects.toThrow();
    expect((await journal()).map((mail) => mail.to)).toEqual([[to]]);
  });

  it('says what is wrong with an order that it does not understand', async () => {
    const { status, body } = await call('POST', '/_gate/events', { kinds: ['send'] });

    expect(status).toBe(400);
    expect(body['message']).toContain('Rendering Failure');
  });
});

describe('a gate that starts again', () => {
  it('publishes the events of the last hour again, and no older ones', async () => {
    await send('kim@example.com');
    fakeSes.stop();
    const old = {
      at: new Date(Date.now() - 2 * 3_600_000).toISOString(),
      messageId: 'm-old',
      to: ['lee@example.com'],
      from: 'hr@example.org',
      replyTo: [],
      subject: 's',
      tags: {},
      configurationSetName: 'mails',
      headers: [],
      body: {},
    };
    appendFileSync(join(directory, 'journal.jsonl'), `${JSON.stringify(old)}\n`);

    await start();
    fakeSes.publishEvents(client, [DESTINATION]);

    await vi.waitFor(async () => {
      expect(await events()).toMatchObject({ published: 2, waiting: 0 });
    });
  });

  it('does not bring back what was lost', async () => {
    await call('POST', '/_gate/events', { lost: true });
    await send('kim@example.com');
    fakeSes.stop();

    await start();
    fakeSes.publishEvents(client, [DESTINATION]);

    expect(await events()).toMatchObject({ published: 0, waiting: 0 });
  });
});

describe('what the gate tells of its newest calls', () => {
  it('is how each ended, also of those that brought no mail', async () => {
    await call('POST', '/_gate/faults', { fault: 'throttle', times: 1 });
    await send('first@example.com');
    await send('second@example.com');
    await send('no address');

    expect(fakeSes.look().calls).toMatchObject([
      { recipient: 'no address', outcome: 'refused: BadRequestException (400)' },
      { recipient: 'second@example.com', outcome: 'taken', messageId: expect.stringMatching(/^0100/) as string },
      { recipient: 'first@example.com', outcome: 'refused: TooManyRequestsException (429)' },
    ]);
  });

  it('is still there after a restart, of the mails that were taken', async () => {
    await send('kim@example.com');
    fakeSes.stop();

    await start();

    expect(fakeSes.look().calls).toMatchObject([{ recipient: 'kim@example.com', outcome: 'taken' }]);
  });
});
