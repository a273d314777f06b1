import { domainToASCII } from 'node:url';

/** A sender as SES, IAM and mails have it. */
export interface Mailbox {
  /** The value of a From header: `name@host`, `"Name" <name@host>` or `=?UTF-8?B?…?= <name@host>`; ASCII only. */
  readonly header: string;
  /** `name@host`: the local part as written, the domain in punycode and lower case. */
  readonly address: string;
  readonly domain: string;
}

/** What a text stands for, or the rule that it breaks. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly rule: string };

/** RFC 5321: an address without the brackets of its path. */
const LONGEST_ADDRESS = 254;
const LONGEST_LOCAL_PART = 64;
const LONGEST_DOMAIN = 253;

/** Without `*`, `?` and `$`, which mean something else in IAM policies. */
const LOCAL_PART = /^[\w!#%&'+/=^`{|}~-]+(?:\.[\w!#%&'+/=^`{|}~-]+)*$/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const LOCAL_PART_RULE = `before the @, use 1 to ${LONGEST_LOCAL_PART} ASCII letters, digits, single dots and !#%&'+/=^_\`{|}~-`;
const DOMAIN_RULE = 'after the @, use one domain of at least two labels, such as example.com';
const NAME_RULE = 'a display name is plain text: no control characters, no encoded words (=?…?=), and < or > only within quotes';

/** A domain in punycode and lower case. */
export const parseDomain = (text: string): Parsed<string> => {
  // As the host of a URL it would be decoded.
  const domain = /[%\s]/.test(text) ? '' : domainToASCII(text).toLowerCase();
  const labels = domain.split('.');
  const isGood =
    domain.length <= LONGEST_DOMAIN &&
    labels.length > 1 &&
    labels.every((label) => LABEL.test(label)) &&
    // What ends in a number is an IP address.
    !/^\d+$/.test(labels.at(-1) ?? '');
  return isGood ? { ok: true, value: domain } : { ok: false, rule: DOMAIN_RULE };
};

/** `name@host`, normalised: the local part stays as it is. */
export const parseAddress = (text: string): Parsed<Omit<Mailbox, 'header'>> => {
  const at = text.lastIndexOf('@');
  if (at < 0) return { ok: false, rule: 'give name@host' };
  const local = text.slice(0, at);
  if (local.length > LONGEST_LOCAL_PART || !LOCAL_PART.test(local)) return { ok: false, rule: LOCAL_PART_RULE };
  const parsed = parseDomain(text.slice(at + 1));
  if (!parsed.ok) return parsed;
  const address = `${local}@${parsed.value}`;
  if (address.length > LONGEST_ADDRESS) return { ok: false, rule: `use at most ${LONGEST_ADDRESS} characters in an address` };
  return { ok: true, value: { address, domain: parsed.value } };
};

/** Normalises `name@host`, `Name <name@host>` or `"Name" <name@host>`. */
export const parseMailbox = (text: string): Parsed<Mailbox> => {
  const [, before = '', bracketed] = /^(.*)<([^<>]*)>$/su.exec(text.trim()) ?? [];
  const parsed = parseAddress((bracketed ?? text).trim());
  if (!parsed.ok) return parsed;
  const name = parseName(before.trim());
  if (!name.ok) return name;
  const { address } = parsed.value;
  return { ok: true, value: { ...parsed.value, header: name.value === '' ? address : `${toPhrase(name.value)} <${address}>` } };
};

const parseName = (text: string): Parsed<string> => {
  const quoted = /^"((?:[^"\\]|\\.)*)"$/su.exec(text)?.[1];
  const name = (quoted?.replaceAll(/\\(.)/gsu, '$1') ?? text).trim();
  const isGood =
    !/[\p{Cc}\u2028\u2029]/u.test(name) &&
    name.isWellFormed() &&
    !/=\?[^?\s]+\?[bq]\?/i.test(name) &&
    (quoted !== undefined || !/[<>]/.test(name));
  return isGood ? { ok: true, value: name } : { ok: false, rule: NAME_RULE };
};

/** RFC 2047 allows 75 characters for an encoded word; this many bytes make 60 of base64. */
const WORD_BYTES = 45;
/** Printable ASCII that needs no escape within quotes. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/;

/** Quoted as of RFC 5322, or encoded as of RFC 2047: a comma in a bare name would make two senders. */
const toPhrase = (name: string): string => (PLAIN.test(name) ? `"${name}"` : encodedWords(name));

/** Cut between code points: half of one in each word shows as two broken characters. */
const encodedWords = (name: string): string => {
  const words: string[] = [''];
  for (const character of name) {
    const current = words.at(-1) ?? '';
    if (Buffer.byteLength(current + character) > WORD_BYTES) words.push(character);
    else words[words.length - 1] = current + character;
  }
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join(' ');
};
