import { GetAccountCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createAccountSource } from '../../../../../lambda/adapters/ses/account-source.ts';
import { createFakeClock, type FakeClock } from '../../../../support/clock.ts';
import { sdkError } from '../../../../support/dynamo.ts';

const ses = mockClient(SESv2Client);
let clock: FakeClock;
const source = (maxSendRate = 0) => createAccountSource({ client: new SESv2Client({}), maxSendRate, clock: clock.now });
const SendQuota = { MaxSendRate: 14, Max24HourSend: 50_000, SentLast24Hours: 1_200 };
const answer = { SendingEnabled: true, SendQuota };
const asked = () => ses.commandCalls(GetAccountCommand).length;

beforeEach(() => {
  ses.reset();
  clock = createFakeClock();
});

describe('the account', () => {
  it('tells its rate, its quota and what it has used of it', async () => {
    ses.on(GetAccountCommand).resolves(answer);

    expect(await source().quota()).toEqual({ maxSendRate: 14, perDay: 50_000, sentLastDay: 1_200 });
  });

  it('is not faster than the setting allows', async () => {
    ses.on(GetAccountCommand).resolves(answer);

    expect(await source(5).quota()).toMatchObject({ maxSendRate: 5 });
    expect(await source(500).quota()).toMatchObject({ maxSendRate: 14 });
  });

  it('may have no limit', async () => {
    ses.on(GetAccountCommand).resolves({ ...answer, SendQuota: { ...SendQuota, Max24HourSend: -1 } });

    expect(await source().quota()).toMatchObject({ perDay: Infinity });
  });

  it.each([
    ['may not send', { ...answer, SendingEnabled: false }],
    ['has no rate', { ...answer, SendQuota: { ...SendQuota, MaxSendRate: 0 } }],
    ['has no quota', { SendingEnabled: true }],
  ])('that %s tells nothing', async (_name, given) => {
    ses.on(GetAccountCommand).resolves(given);

    expect(await source().quota()).toBeUndefined();
  });

  it('is asked once a minute, however many ask at once', async () => {
    ses.on(GetAccountCommand).resolves(answer);
    const account = source();

    await Promise.all(Array.from({ length: 20 }, () => account.quota()));
    clock.advance(59_999);
    await account.quota();
    expect(asked()).toBe(1);

    clock.advance(1);
    await account.quota();
    expect(asked()).toBe(2);
  });

  it('that does not answer is asked again after ten seconds, and throws nothing', async () => {
    ses.on(GetAccountCommand).rejectsOnce(sdkError('TooManyRequestsException', 429)).resolves(answer);
    const account = source();

    expect([await account.quota(), await account.quota()]).toEqual([undefined, undefined]);
    clock.advance(10_000);
    expect(await account.quota()).toMatchObject({ maxSendRate: 14 });
    expect(asked()).toBe(2);
  });
});
