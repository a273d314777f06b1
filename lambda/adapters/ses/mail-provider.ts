import { SendEmailCommand, type SendEmailCommandInput, type SESv2Client } from '@aws-sdk/client-sesv2';

import type { MailProvider, OutgoingMail, SendTags } from '../../application/ports/provider.ts';
import type { SendAnswer } from '../../domain/sending/send-answer.ts';
import { classify } from './classify.ts';
import { toSesFailure } from './ses-failure.ts';

export interface MailProviderDeps {
  /** Built by {@link createSesClient}: one try, timeouts that throw. */
  readonly client: SESv2Client;
  readonly configurationSet: string;
  /** Longest time for a whole call, its answer's body included. */
  readonly timeoutSeconds: number;
}

/** SES v2, one call a mail. */
export const createMailProvider = ({ client, configurationSet, timeoutSeconds }: MailProviderDeps): MailProvider => {
  // The SDK's own timeouts end with the answer's headers: a body that stalls would hold the call for ever.
  const inTime = () => ({ abortSignal: AbortSignal.timeout(timeoutSeconds * 1000) });

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

    sendCanary: (from, through = configurationSet) => call(canary(from, through), from),
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
