import { GetAccountCommand, type SendQuota, type SESv2Client } from '@aws-sdk/client-sesv2';

import type { AccountSource } from '../../application/accept-ports.ts';
import type { Clock } from '../../application/ports.ts';
import type { AccountQuota } from '../../domain/send-estimate.ts';

export interface AccountSourceDeps {
  readonly client: SESv2Client;
  /** Mails per second; 0: what the account allows. */
  readonly maxSendRate: number;
  readonly clock: Clock;
}

/** GetAccount is limited to one call a second for the whole account. */
const KEPT_MS = 60_000;
const ASKED_AGAIN_MS = 10_000;

/** The SES account. An answer is kept for a minute, none for ten seconds. */
export const createAccountSource = ({ client, maxSendRate, clock }: AccountSourceDeps): AccountSource => {
  let asked: Promise<AccountQuota | undefined> = Promise.resolve(undefined);
  let askAgainAt = 0;

  const ask = async (): Promise<AccountQuota | undefined> => {
    try {
      const { SendingEnabled, SendQuota } = await client.send(new GetAccountCommand({}));
      const quota = toQuota(SendingEnabled === true, SendQuota ?? {}, maxSendRate);
      askAgainAt = clock() + KEPT_MS;
      return quota;
    } catch {
      return undefined;
    }
  };

  return {
    quota() {
      if (clock() >= askAgainAt) {
        askAgainAt = clock() + ASKED_AGAIN_MS;
        asked = ask();
      }
      return asked;
    },
  };
};

const toQuota = (isEnabled: boolean, given: SendQuota, cap: number): AccountQuota | undefined => {
  const { MaxSendRate: rate = 0, Max24HourSend: perDay = 0, SentLast24Hours: sentLastDay = 0 } = given;
  const maxSendRate = cap > 0 ? Math.min(rate, cap) : rate;
  if (!isEnabled || maxSendRate <= 0 || perDay === 0) return undefined;
  // SES says -1 for "no limit".
  return { maxSendRate, perDay: perDay < 0 ? Infinity : perDay, sentLastDay };
};
