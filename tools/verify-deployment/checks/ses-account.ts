import { GetAccountCommand, type SESv2Client } from '@aws-sdk/client-sesv2';

import { type Check, failed, type Outcome, passed } from '../check.ts';
import { type AccountFacts, roomOf } from '../numbers.ts';

type Problem = 'sandbox' | 'disabled' | 'quota-used' | 'under-review';

/** Reads how SES stands to the account. */
export const readAccount = async (ses: SESv2Client): Promise<AccountFacts> => {
  const { ProductionAccessEnabled, SendingEnabled, EnforcementStatus, SendQuota } = await ses.send(new GetAccountCommand({}));
  return {
    production: ProductionAccessEnabled ?? false,
    sendingEnabled: SendingEnabled ?? false,
    enforcement: EnforcementStatus ?? 'HEALTHY',
    rate: SendQuota?.MaxSendRate ?? 1,
    perDay: SendQuota?.Max24HourSend ?? 200,
    sentToday: SendQuota?.SentLast24Hours ?? 0,
  };
};

/** The worst that the account has to be told. */
export const judgeAccount = (facts: AccountFacts, allowSandbox: boolean): Outcome<Problem> => {
  const perDay = facts.perDay < 0 ? 'no limit' : `${facts.perDay} in 24 hours, ${roomOf(facts)} left`;
  const saw = `${facts.rate} mails a second, ${perDay}`;
  if (facts.enforcement !== 'HEALTHY') return failed('under-review', `enforcement status ${facts.enforcement}; ${saw}`);
  if (!facts.sendingEnabled) return failed('disabled', `sending is disabled for the account; ${saw}`);
  if (roomOf(facts) < 1) return failed('quota-used', saw);
  if (!facts.production && !allowSandbox) return failed('sandbox', `the account is in the sandbox: ${saw}`);
  return passed(facts.production ? saw : `in the sandbox, as allowed: ${saw}`);
};

/** The account may send mails to anybody, today. */
export const sesAccount: Check<Problem> = {
  id: 'account',
  name: 'SES account',
  advice: {
    sandbox:
      'Mails to the simulator work, mails to people do not. Ask for production access in the SES console of this region (docs/deploy.md, section 2); until then set maxSendRate to 1. For a development stage that stays in the sandbox: --allow-sandbox.',
    disabled:
      'Sending was switched off for the account: aws sesv2 put-account-sending-attributes --sending-enabled. Find out who did it and why.',
    'quota-used':
      'No mail to a person goes out until the 24-hour window moves; the service pauses and resumes by itself. Ask for a higher quota (Service Quotas, Amazon SES) before a dispatch that needs it.',
    'under-review':
      'AWS reviews or has stopped this account: open the SES console, "Account health", and answer the case there. Send nothing to people until it is HEALTHY.',
  },
  run: async ({ target, options }) => judgeAccount(await readAccount(target.ses), options.allowSandbox),
};
