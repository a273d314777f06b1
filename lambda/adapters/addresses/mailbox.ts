import type { NormaliseAddress } from '../../domain/email-address.ts';

/** RFC 2047 allows 75 characters for an encoded word; this many bytes make 60 of base64. */
const WORD_BYTES = 45;

/** Printable ASCII without the quote and the backslash. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/;

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

/**
 * Writes `name@host` or `Display Name <name@host>` so that no character of the name can be taken for a part of the
 * address: `Karen, Chan <a@b>` would be two senders. Throws on what is no mailbox.
 */
export const formatMailbox = (text: string, normalise: NormaliseAddress): string => {
  const [, name = '', bracketed] = /^(.*?)<([^<>]*)>\s*$/su.exec(text) ?? [];
  const verdict = normalise(bracketed ?? text);
  if (!verdict.ok) throw new Error(`not 'name@host' or 'Display Name <name@host>': ${verdict.fault}`);

  const bare = name.trim().replace(/^"(.*)"$/su, '$1');
  if (bare === '') return verdict.address;
  if (/\p{Cc}/u.test(bare) || !bare.isWellFormed()) throw new Error('a display name cannot contain control characters');
  return PLAIN.test(bare) ? `"${bare}" <${verdict.address}>` : `${encodedWords(bare)} <${verdict.address}>`;
};
