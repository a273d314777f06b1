import { GetAccountCommand, type SESv2Client } from '@aws-sdk/client-sesv2';

import type { AccountSource } from '../../application/ports/provider.ts';

/** A slot of the budget is a second long, and whoever waits for the answer has mails in hand. */
const LONGEST_CALL_MS = 3_000;

/** SES's description of the account. One call and no cache: whoever asks has booked a slot. @param client makes one try */
export const createAccountSource = (client: SESv2Client): AccountSource => ({
  async ask() {
    // The SDK's own timeouts end with the answer's headers.
    const inTime = { abortSignal: AbortSignal.timeout(LONGEST_CALL_MS) };
    const { SendingEnabled, SendQuota } = await client.send(new GetAccountCommand({}), inTime);
    const { MaxSendRate = 0, Max24HourSend = 0, SentLast24Hours = 0 } = SendQuota ?? {};
    return {
      rate: MaxSendRate,
      // SES says -1 where there is no limit.
      perDay: Max24HourSend < 0 ? Infinity : Max24HourSend,
      sentLastDay: SentLast24Hours,
      sendingEnabled: SendingEnabled === true,
    };
  },
});
