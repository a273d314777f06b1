import { domainToASCII } from 'node:url';

import emails from 'validator/lib/isEmail.js';

import type { NormaliseAddress } from '../../domain/recipient/email-address.ts';

// CommonJS of two generations: the function is its own default export.
const isEmail = emails.default;

const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const ASCII_LOCAL_PART = /^[\x20-\x7e]{1,64}$/;

/** RFC 5321, without the brackets of its path. */
const LONGEST_ADDRESS = 254;

/**
 * One mailbox, as SES takes it: trimmed, local part ASCII and kept as it is, domain in punycode and lower case.
 * SES accepts a local part beyond ASCII and rejects it later, so it is refused here.
 */
export const normaliseAddress: NormaliseAddress = (text) => {
  const trimmed = text.trim();
  if (CONTROL.test(trimmed)) return { ok: false, fault: 'control-characters' };

  const at = trimmed.lastIndexOf('@');
  if (at < 1) return { ok: false, fault: 'email-address' };
  const local = trimmed.slice(0, at);
  // The empty text in quotes is a mailbox by the letter of the standard, and of nobody.
  if (local === '"' || local === '""') return { ok: false, fault: 'email-address' };
  if (!ASCII_LOCAL_PART.test(local)) return { ok: false, fault: 'email-local-part' };

  const written = trimmed.slice(at + 1);
  // As the host of a URL it would be decoded.
  if (written.includes('%')) return { ok: false, fault: 'email-domain' };
  const domain = domainToASCII(written).toLowerCase();
  if (!isEmail(`a@${domain}`)) return { ok: false, fault: 'email-domain' };

  const address = `${local}@${domain}`;
  if (address.length > LONGEST_ADDRESS || !isEmail(address, { allow_utf8_local_part: false }))
    return { ok: false, fault: 'email-address' };
  return { ok: true, address };
};
