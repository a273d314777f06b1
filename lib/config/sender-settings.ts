import { type Mailbox, parseAddress, type Parsed, parseDomain, parseMailbox } from './mailbox.ts';
import type { SettingReader } from './setting.ts';

/** Who mails of a stage are from, and who may get them. */
export interface SenderSettings {
  /** The identity that new mails and canaries are from. */
  readonly fromAddress: Mailbox;
  /** Earlier values of `fromAddress` whose mails may still be waiting: IAM goes on allowing them. */
  readonly formerFromAddresses: readonly Mailbox[];
  /** The value of a Reply-To header; empty: answers go to the From address. */
  readonly replyToAddress: string;
  /** Addresses, domains and `*.domain`; the one entry `*`: everybody. The simulator of SES is always allowed. */
  readonly allowedRecipients: readonly string[];
  /** Whether the account is in the sandbox of SES, where IAM is asked about recipients too. */
  readonly sesSandbox: boolean;
}

/** Everybody may be mailed. */
export const EVERYBODY = '*';

const FROM = 'give the verified sender as name@host or Name <name@host>';
/** A Lambda function's environment takes 4 KB in all, and its role's policy 10 KB. */
const MOST_ALLOWED = { entries: 20, characters: 1_000 };
const MOST_FORMER = 10;

/** Stands for a sender that is at fault: nothing is built then. */
const NO_MAILBOX: Mailbox = { header: '', address: '', domain: '' };

/** Reads who mails are from and who may get them. @param isOpen whether everybody may be mailed unless the setting says otherwise */
export const readSenders = (read: SettingReader, isOpen: boolean): SenderSettings => {
  const settings = {
    fromAddress: read.parsed('fromAddress', parseMailbox, FROM) ?? NO_MAILBOX,
    formerFromAddresses: read.list('formerFromAddresses', parseMailbox, MOST_FORMER) ?? [],
    replyToAddress: read.parsed('replyToAddress', parseReplyTo, undefined) ?? '',
    allowedRecipients: read.list('allowedRecipients', parseAllowed, MOST_ALLOWED.entries) ?? (isOpen ? [EVERYBODY] : []),
    sesSandbox: read.flag('sesSandbox', false, 'say true while the account is in the sandbox of SES, or false'),
  };
  const { allowedRecipients, sesSandbox } = settings;
  if (allowedRecipients.join(',').length > MOST_ALLOWED.characters)
    read.faults.push(`allowedRecipients must have at most ${MOST_ALLOWED.characters} characters in all`);
  if (allowedRecipients.includes(EVERYBODY)) {
    if (allowedRecipients.length > 1) read.faults.push(`allowedRecipients must name nobody else beside "${EVERYBODY}"`);
    if (sesSandbox) read.faults.push('sesSandbox needs allowedRecipients: name the recipients that are verified in SES');
  }
  return settings;
};

const parseReplyTo = (text: string): Parsed<string> => {
  if (text === '') return { ok: true, value: '' };
  const parsed = parseMailbox(text);
  return parsed.ok ? { ok: true, value: parsed.value.header } : parsed;
};

const ALLOWED_RULE = 'give an address, a domain, *.domain for its sub-domains, or * alone for everybody';

/** One entry of `allowedRecipients`, in punycode and lower case. */
const parseAllowed = (text: string): Parsed<string> => {
  const entry = text.trim();
  if (entry === EVERYBODY) return { ok: true, value: entry };
  if (entry.includes('@')) {
    const parsed = parseAddress(entry);
    return parsed.ok
      ? { ok: true, value: parsed.value.address.toLowerCase() }
      : { ok: false, rule: `${ALLOWED_RULE}; ${parsed.rule}` };
  }
  const isWildcard = entry.startsWith('*.');
  const parsed = parseDomain(isWildcard ? entry.slice(2) : entry);
  return parsed.ok ? { ok: true, value: isWildcard ? `*.${parsed.value}` : parsed.value } : { ok: false, rule: ALLOWED_RULE };
};
