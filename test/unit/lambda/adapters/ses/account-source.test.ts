import { GetAccountCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createAccountSource } from '../../../../../lambda/adapters/ses/account-source.ts';
import { sdkError } from '../../../../support/dynamo.ts';

const ses = mockClient(SESv2Client);
const source = createAccountSource(new SESv2Client({}));
const SendQuota = { MaxSendRate: 14, Max24HourSend: 50_000, SentLast24Hours: 1_200 };

beforeEach(() => {
  ses.reset();
});

describe('the account as SES describes it', () => {
  it('has a rate, a quota, what was used of it, and whether it may send', async () => {
    ses.on(GetAccountCommand).resolves({ SendingEnabled: true, SendQuota });

    expect(await source.ask()).toEqual({ rate: 14, perDay: 50_000, sentLastDay: 1_200, sendingEnabled: true });
    expect(ses.commandCalls(GetAccountCommand)).toHaveLength(1);
  });

  it('may have no limit', async () => {
    ses.on(GetAccountCommand).resolves({ SendingEnabled: true, SendQuota: { ...SendQuota, Max24HourSend: -1 } });

    expect(await source.ask()).toMatchObject({ perDay: Infinity });
  });

  it('may not send unless SES says so', async () => {
    ses.on(GetAccountCommand).resolves({});

    expect(await source.ask()).toEqual({ rate: 0, perDay: 0, sentLastDay: 0, sendingEnabled: false });
  });

  it('is an error when SES does not answer', async () => {
    ses.on(GetAccountCommand).rejects(sdkError('TooManyRequestsException', 429));

    await expect(source.ask()).rejects.toThrow();
  });
});
