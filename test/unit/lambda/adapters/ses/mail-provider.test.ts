import { SendEmailCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createMailProvider } from '../../../../../lambda/adapters/ses/mail-provider.ts';

const ses = mockClient(SESv2Client);

const provider = () =>
  createMailProvider({
    client: new SESv2Client({}),
    configurationSet: 'mail-events',
    timeoutSeconds: 10,
  });

beforeEach(() => {
  ses.reset();
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
