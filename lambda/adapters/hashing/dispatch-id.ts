import { createHash } from 'node:crypto';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** RFC 4648 without padding, in lower case. */
const base32 = (bytes: Uint8Array): string => {
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += ALPHABET.charAt((buffer >>> (bits - 5)) & 31);
    buffer &= (1 << bits) - 1;
  }
  return bits > 0 ? text + ALPHABET.charAt((buffer << (5 - bits)) & 31) : text;
};

/** With its length before it, no text can pass for the end of the one before. */
const prefixed = (text: string): string => `${Buffer.byteLength(text)}:${text}`;

/** The id of the dispatch that an admin's key names. */
export const dispatchIdOf = (adminId: string, idempotencyKey: string): string =>
  base32(
    createHash('sha256')
      .update(prefixed(adminId) + prefixed(idempotencyKey))
      .digest(),
  );
