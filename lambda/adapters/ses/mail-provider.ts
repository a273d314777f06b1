import { GetAccountCommand, SendEmailCommand, type SendEmailCommandInput, type SESv2Client } from '@aws-sdk/client-sesv2';

import type { Clock, MailProvider, OutgoingMail, SendTags } from '../../application/ports.ts';
import type { SendAnswer } from '../../domain/send-answer.ts';
import { classify } from './classify.ts';
import { toSesFailure } from './ses-failure.ts';

export interface MailProviderDeps {
  /** Built by {@link createSesClient}: one try, timeouts that throw. */
  readonly client: SESv2Client;
  readonly configurationSet: string;
  /** Whom a canary is from; mails carry their own sender. */
  readonly canaryFrom: string;
  /** Longest time for a whole call, its answer's body included. */
  readonly timeoutSeconds: number;
  /** Mails per second; 0: what the account allows. */
  readonly maxSendRate: number;
  readonly clock: Clock;
  /** Told the used share of the 24 hours' quota whenever SES was asked, from 0 to 1. Must not throw. */
  readonly observeQuota?: (usedShare: number) => void;
}

/** The account's quota changes rarely, and GetAccount is limited to one call a second for the whole account. */
const QUOTA_KEPT_MS = 300_000;
const QUOTA_ASKED_AGAIN_MS = 10_000;
/** The rate of an account in the sandbox: what can be relied on before SES has answered. */
const LOWEST_RATE = 1;

/** SES v2, one call a mail. */
export const createMailProvider = ({
  client,
  configurationSet,
  canaryFrom,
  timeoutSeconds,
  maxSendRate,
  clock,
  observeQuota,
}: MailProviderDeps): MailProvider => {
  // The SDK's own timeouts end with the answer's headers: a body that stalls would hold the call for ever.
  const inTime = () => ({ abortSignal: AbortSignal.timeout(timeoutSeconds * 1000) });
  let rate = LOWEST_RATE;
  let askAgainAt = 0;

  const call = async (input: SendEmailCommandInput, from: string): Promise<SendAnswer> => {
    try {
      const { MessageId } = await client.send(new SendEmailCommand(input), inTime());
      return MessageId === undefined ? { kind: 'unclear', code: 'ANSWER_CUT_OFF' } : { kind: 'accepted', messageId: MessageId };
    } catch (error) {
      return classify(toSesFailure(error), from);
    }
  };

  return {
    send: (mail, tags) => call(toInput(mail, tags, configurationSet), mail.from),

    sendCanary: () => call(canary(canaryFrom, configurationSet), canaryFrom),

    async maxSendRate() {
      if (clock() >= askAgainAt) {
        askAgainAt = clock() + QUOTA_ASKED_AGAIN_MS;
        try {
          const { SendQuota } = await client.send(new GetAccountCommand({}), inTime());
          rate = Math.max(LOWEST_RATE, SendQuota?.MaxSendRate ?? rate);
          askAgainAt = clock() + QUOTA_KEPT_MS;
          const { Max24HourSend = 0, SentLast24Hours = 0 } = SendQuota ?? {};
          // SES says -1 where there is no limit.
          if (Max24HourSend > 0) observeQuota?.(SentLast24Hours / Max24HourSend);
        } catch {
          // The last known rate serves until SES answers; what is wrong with SES shows in the sends themselves.
        }
      }
      return maxSendRate > 0 ? Math.min(rate, maxSendRate) : rate;
    },
  };
};

const utf8 = (Data: string) => ({ Data, Charset: 'UTF-8' });

const toInput = (mail: OutgoingMail, tags: SendTags, configurationSet: string): SendEmailCommandInput => ({
  FromEmailAddress: mail.from,
  Destination: { ToAddresses: [mail.to] },
  ...(mail.replyTo !== undefined && { ReplyToAddresses: [mail.replyTo] }),
  Content: {
    Simple: {
      Subject: utf8(mail.subject),
      Body: {
        ...(mail.html !== undefined && { Html: utf8(mail.html) }),
        ...(mail.text !== undefined && { Text: utf8(mail.text) }),
      },
      ...(mail.unsubscribeUrl !== undefined && {
        Headers: [
          { Name: 'List-Unsubscribe', Value: `<${mail.unsubscribeUrl}>` },
          // RFC 8058: one click, no page in between.
          { Name: 'List-Unsubscribe-Post', Value: 'List-Unsubscribe=One-Click' },
        ],
      }),
    },
  },
  // Without a configuration set SES publishes no events.
  ConfigurationSetName: configurationSet,
  EmailTags: [
    { Name: 'dispatchId', Value: tags.dispatchId },
    { Name: 'shard', Value: String(tags.shard) },
    // A tag value allows letters, digits, _ and - only.
    { Name: 'recipient', Value: Buffer.from(tags.applyId, 'utf8').toString('base64url') },
    { Name: 'round', Value: String(tags.round) },
    { Name: 'attempt', Value: String(tags.attempt) },
    { Name: 'lease', Value: tags.lease },
  ],
});

/** SES's simulator takes mails without counting them against the daily quota or the reputation. */
const CANARY_TO = 'success@simulator.amazonses.com';

const canary = (from: string, configurationSet: string): SendEmailCommandInput => ({
  FromEmailAddress: from,
  Destination: { ToAddresses: [CANARY_TO] },
  Content: { Simple: { Subject: utf8('Canary'), Body: { Text: utf8('Sent so that SES publishes an event.') } } },
  ConfigurationSetName: configurationSet,
  EmailTags: [{ Name: 'canary', Value: '1' }],
});
