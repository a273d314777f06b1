import { GetAccountCommand, SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createMailProvider } from '../../../../../lambda/adapters/ses/mail-provider.ts';
import { createFakeClock, type FakeClock } from '../../../../support/clock.ts';

const ses = mockClient(SESv2Client);

let clock: FakeClock;
const provider = (maxSendRate = 0, observeQuota: (usedShare: number) => void = () => undefined) =>
  createMailProvider({
    client: new SESv2Client({}),
    canaryFrom: 'Recruiting <jobs@example.org>',
    configurationSet: 'mail-events',
    timeoutSeconds: 10,
    maxSendRate,
    clock: clock.now,
    observeQuota,
  });

beforeEach(() => {
  ses.reset();
  clock = createFakeClock();
});

const mail = { from: '"Karen, Chan" <jobs@example.org>', to: 'kim@example.com', subject: '면접 안내', text: 'Dear Kim' };
const tags = { dispatchId: 'd1', shard: 3, applyId: '지원/1', round: 1, attempt: 2, lease: 'lease-1' };

describe('a call to SES', () => {
  it('carries the configuration set, all tags, one recipient (E4)', async () => {
    ses.on(SendEmailCommand).resolves({ MessageId: 'ses-1' });

    const answer = await provider().send({ ...mail, html: '<p>Dear Kim</p>', replyTo: 'hr@example.org' }, tags);

    expect(answer).toEqual({ kind: 'accepted', messageId: 'ses-1' });
    expect(ses.commandCalls(SendEmailCommand).map(({ args }) => args[0].input)).toEqual([
      {
        FromEmailAddress: '"Karen, Chan" <jobs@example.org>',
        Destination: { ToAddresses: ['kim@example.com'] },
        ReplyToAddresses: ['hr@example.org'],
        Content: {
          Simple: {
            Subject: { Data: '면접 안내', Charset: 'UTF-8' },
            Body: {
              Html: { Data: '<p>Dear Kim</p>', Charset: 'UTF-8' },
              Text: { Data: 'Dear Kim', Charset: 'UTF-8' },
            },
          },
        },
        ConfigurationSetName: 'mail-events',
        EmailTags: [
          { Name: 'dispatchId', Value: 'd1' },
          { Name: 'shard', Value: '3' },
          { Name: 'recipient', Value: '7KeA7JuQLzE' },
          { Name: 'round', Value: '1' },
          { Name: 'attempt', Value: '2' },
          { Name: 'lease', Value: 'lease-1' },
        ],
      },
    ]);
  });

  it('has tag values of letters, digits, _ and - alone, whatever the id', async () => {
    ses.on(SendEmailCommand).resolves({ MessageId: 'ses-1' });

    await provider().send(mail, { ...tags, applyId: 'a b+c@d.e/😀' });

    const values = ses.commandCalls(SendEmailCommand)[0]?.args[0].input.EmailTags?.map(({ Value }) => Value);
    expect(values).toHaveLength(6);
    for (const value of values ?? []) expect(value).toMatch(/^[\w-]{1,256}$/);
  });

  it('offers to unsubscribe with one click when the dispatch says where', async () => {
    ses.on(SendEmailCommand).resolves({ MessageId: 'ses-1' });

    await provider().send({ ...mail, unsubscribeUrl: 'https://example.org/u/1' }, tags);

    expect(ses.commandCalls(SendEmailCommand)[0]?.args[0].input.Content?.Simple?.Headers).toEqual([
      { Name: 'List-Unsubscribe', Value: '<https://example.org/u/1>' },
      { Name: 'List-Unsubscribe-Post', Value: 'List-Unsubscribe=One-Click' },
    ]);
  });

  it('is unclear when it succeeds without a message id (U3)', async () => {
    ses.on(SendEmailCommand).resolves({});

    expect(await provider().send(mail, tags)).toEqual({ kind: 'unclear', code: 'ANSWER_CUT_OFF' });
  });

  it('is unclear, never an exception, when something nobody expected is thrown', async () => {
    ses.on(SendEmailCommand).callsFake(() => {
      throw new TypeError('cannot read properties of undefined');
    });

    expect(await provider().send(mail, tags)).toMatchObject({ kind: 'unclear' });
  });
});

describe('the rate of the account', () => {
  it('is what SES says, asked once in five minutes', async () => {
    ses.on(GetAccountCommand).resolves({ SendQuota: { MaxSendRate: 14 } });
    const account = provider();

    const rates = [await account.maxSendRate(), await account.maxSendRate()];
    clock.advance(299_999);
    rates.push(await account.maxSendRate());

    expect(rates).toEqual([14, 14, 14]);
    expect(ses.commandCalls(GetAccountCommand)).toHaveLength(1);

    ses.on(GetAccountCommand).resolves({ SendQuota: { MaxSendRate: 50 } });
    clock.advance(1);
    expect(await account.maxSendRate()).toBe(50);
  });

  it('is capped by the setting', async () => {
    ses.on(GetAccountCommand).resolves({ SendQuota: { MaxSendRate: 14 } });

    expect(await provider(5).maxSendRate()).toBe(5);
    expect(await provider(500).maxSendRate()).toBe(14);
  });

  it('is one a second until SES has answered, which is asked again after ten seconds', async () => {
    ses
      .on(GetAccountCommand)
      .rejectsOnce(new Error('TooManyRequests'))
      .resolves({ SendQuota: { MaxSendRate: 14 } });
    const account = provider();

    expect([await account.maxSendRate(), await account.maxSendRate()]).toEqual([1, 1]);
    clock.advance(10_000);
    expect(await account.maxSendRate()).toBe(14);
  });

  it('stays the last one known while SES does not answer', async () => {
    ses
      .on(GetAccountCommand)
      .resolvesOnce({ SendQuota: { MaxSendRate: 14 } })
      .rejects(new Error('no answer'));
    const account = provider();

    await account.maxSendRate();
    clock.advance(300_000);

    expect(await account.maxSendRate()).toBe(14);
  });
});

describe('the use of the daily quota', () => {
  it.each([
    [{ Max24HourSend: 50_000, SentLast24Hours: 40_000 }, [0.8]],
    [{ Max24HourSend: 200, SentLast24Hours: 0 }, [0]],
    // No limit.
    [{ Max24HourSend: -1, SentLast24Hours: 40_000 }, []],
    [undefined, []],
  ])('of %j is told as %j, as often as SES was asked', async (SendQuota, told) => {
    ses.on(GetAccountCommand).resolves({ ...(SendQuota && { SendQuota }) });
    const shares: number[] = [];
    const asked = provider(0, (share) => shares.push(share));

    await asked.maxSendRate();
    await asked.maxSendRate();

    expect(shares).toEqual(told);
  });
});
