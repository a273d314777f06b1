import type { DispatchContent, RecipientInput, RenderedMail, TemplateParts } from '../../domain/dispatch/content.ts';
import type { RecipientKey } from '../../domain/recipient/recipient.ts';
import type { Account } from '../../domain/sending/account.ts';
import type { SendAnswer } from '../../domain/sending/send-answer.ts';

/** SES's GetAccount, one call. */
export interface AccountSource {
  /** Throws when SES gives no answer. */
  ask(): Promise<Omit<Account, 'fetchedAt'>>;
}

/** Turns a dispatch's content into the mail of one recipient. */
export interface MailRenderer {
  /** The mail, or the code of what is wrong with it; never a value in it. */
  render(
    dispatchId: string,
    content: DispatchContent,
    recipientInput: RecipientInput,
  ): { readonly ok: true; readonly mail: RenderedMail } | { readonly ok: false; readonly code: string };
}

/** Names the attempt in every event that SES publishes about the mail. */
export interface SendTags extends RecipientKey {
  readonly round: number;
  readonly attempt: number;
  readonly lease: string;
}

/** A mail and its two ends. */
export interface OutgoingMail extends RenderedMail {
  readonly from: string;
  readonly replyTo?: string;
  readonly to: string;
}

/** SES. */
export interface MailProvider {
  /** At most one call; every way it can end is an answer. */
  send(mail: OutgoingMail, tags: SendTags): Promise<SendAnswer>;
  /**
   * A mail to SES's simulator, sent only so that SES publishes an event or shows whether it takes mails.
   * @param from as it goes into the header, formatted like the From of mails
   * @param configurationSet by default that of mails
   */
  sendCanary(from: string, configurationSet?: string): Promise<SendAnswer>;
}

/** SES's GetEmailTemplate, one call. */
export interface TemplateFetcher {
  /** Undefined: there is none. Throws `Unavailable` when SES gives no answer. */
  fetch(scenarioId: string): Promise<TemplateParts | undefined>;
}
