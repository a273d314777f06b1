import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Account } from './account.ts';
import { describeFault, type SendCall, TAKEN, takesMail } from './call-log.ts';
import { faultOfAddress } from './faults/faults.ts';
import { injectFault } from './faults/inject-fault.ts';
import type { FaultPlan } from './faults/plan.ts';
import { type Refusal, refusal } from './faults/refusal.ts';
import { isSimulated } from './faults/simulator.ts';
import { answerJson, answerRefusal, readJson } from './http.ts';
import { bareAddress, type Mail, recipientsOf, SendEmailRequest, toMail } from './mail.ts';

/** What a SendEmail call passes through. */
export interface SendEmailOptions {
  readonly account: Account;
  readonly plan: FaultPlan;
  /** Names that calls may give; others do not exist. */
  readonly configurationSets: ReadonlySet<string>;
  readonly take: (mail: Mail) => void;
  /** Told how each call ended. */
  readonly note: (call: SendCall) => void;
}

const TAG = /^[A-Za-z0-9_-]{1,256}$/;
const HEADER_NAME = /^[!-9;-~]{1,126}$/;
const HEADER_VALUE = /^[ -~]{1,995}$/;
const CONTROL = /\p{Cc}/u;

const bad = (message: string): Refusal => refusal(400, 'BadRequestException', message);

const checkAddress = (address: string): Refusal | undefined => {
  if (CONTROL.test(address)) return bad('Domain contains control or whitespace');
  const at = bareAddress(address).lastIndexOf('@');
  const local = bareAddress(address).slice(0, at);
  const domain = bareAddress(address).slice(at + 1);
  if (at < 0) return bad("Missing final '@domain'");
  if (local === '') return bad('Missing local name');
  if (domain === '') return bad('Missing domain');
  if (!/^[!-~ ]+$/.test(local)) return bad('Local address contains control or whitespace');
  if (!/^[A-Za-z0-9.-]+$/.test(domain)) return bad('Domain contains illegal character');
  return undefined;
};

/** What SES itself would find wrong with the call. */
const check = (request: SendEmailRequest, configurationSets: ReadonlySet<string>): Refusal | undefined => {
  const { ConfigurationSetName: set, EmailTags, Content, FromEmailAddress, ReplyToAddresses } = request;
  const recipients = recipientsOf(request);
  if (recipients.length === 0 || recipients.length > 50) return bad('There must be 1 to 50 recipients.');
  for (const address of [FromEmailAddress, ...ReplyToAddresses, ...recipients]) {
    const refused = checkAddress(address);
    if (refused) return refused;
  }
  if (set !== undefined && !configurationSets.has(set)) {
    return refusal(404, 'NotFoundException', `Configuration set <${set}> does not exist.`);
  }
  if (EmailTags.some(({ Name, Value }) => !TAG.test(Name) || !TAG.test(Value))) return bad('Invalid tag name or value.');
  const { Subject, Body, Headers } = Content.Simple;
  if (Headers.length > 15 || Headers.some(({ Name, Value }) => !HEADER_NAME.test(Name) || !HEADER_VALUE.test(Value))) {
    return bad('Invalid header name or value.');
  }
  if (CONTROL.test(Subject.Data)) return bad('Subject contains control characters.');
  if (!Body.Html && !Body.Text) return bad('The message has no body.');
  return undefined;
};

const newMessageId = (): string => `0100${Date.now().toString(16).padStart(12, '0')}-${randomUUID()}-000000`;

/** Answers one SendEmail call. */
export const sendEmail = async (
  request: IncomingMessage,
  response: ServerResponse,
  { account, plan, configurationSets, take, note }: SendEmailOptions,
): Promise<void> => {
  const noteOutcome = (recipient: string, outcome: string, messageId?: string) => {
    note({ at: new Date().toISOString(), recipient, outcome, ...(messageId !== undefined && { messageId }) });
  };
  if (plan.breaksUnread()) {
    noteOutcome('', describeFault({ kind: 'reset', moment: 'unread' }));
    response.socket?.resetAndDestroy();
    return;
  }
  const parsed = SendEmailRequest.safeParse(await readJson(request));
  if (!parsed.success) {
    answerRefusal(response, bad(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')));
    return;
  }
  const call = parsed.data;
  const recipients = recipientsOf(call);
  const recipient = bareAddress(recipients[0] ?? '');
  const counted = recipients.filter((address) => !isSimulated(bareAddress(address)));
  const refused = check(call, configurationSets) ?? account.take(recipients.length, counted.length);
  if (refused) {
    noteOutcome(recipient, describeFault({ kind: 'refuse', refusal: refused }));
    answerRefusal(response, refused);
    return;
  }
  const messageId = newMessageId();
  const takeMail = () => {
    take(toMail(call, messageId, new Date()));
    return { MessageId: messageId };
  };
  const dispatchId = call.EmailTags.find(({ Name }) => Name === 'dispatchId')?.Value;
  const faulty = { recipient, from: call.FromEmailAddress, dispatchId };
  const fault = plan.next('SendEmail', faulty) ?? faultOfAddress(faulty);
  noteOutcome(recipient, fault ? describeFault(fault) : TAKEN, !fault || takesMail(fault) ? messageId : undefined);
  if (fault) await injectFault(fault, { take: takeMail, response });
  else answerJson(response, 200, takeMail());
};
