import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { normaliseAddress } from '../../../../../lambda/adapters/addresses/normalise-address.ts';

describe('an address (S17, U12)', () => {
  it.each([
    ['with a plus tag', 'kim+jobs@example.com', 'kim+jobs@example.com'],
    ['with a quoted local part', '"kim lee"@example.com', '"kim lee"@example.com'],
    ['with a quoted @', '"kim@home"@example.com', '"kim@home"@example.com'],
    ['with an IDN domain', 'kim@bücher.example', 'kim@xn--bcher-kva.example'],
    ['with a Hangul domain', 'kim@도메인.한국', 'kim@xn--hq1bm8jm9l.xn--3e0b707e'],
    ['in upper case', 'Kim.Lee@EXAMPLE.COM', 'Kim.Lee@example.com'],
    ['among spaces', '  kim@example.com \t', 'kim@example.com'],
    ['with a local part of 64 characters', `${'x'.repeat(64)}@example.com`, `${'x'.repeat(64)}@example.com`],
    ['of the local mailbox simulator', 'throttle@simulator.localhost', 'throttle@simulator.localhost'],
  ])('%s is brought into the form that SES takes', (_name, text, address) => {
    expect(normaliseAddress(text)).toEqual({ ok: true, address });
  });

  it.each([
    ['empty', '', 'email-address'],
    ['without @', 'kim.example.com', 'email-address'],
    ['without a local part', '@example.com', 'email-address'],
    ['with two @', 'kim@lee@example.com', 'email-address'],
    ['that is two', 'kim@example.com,lee@example.com', 'email-address'],
    ['with a comma', 'kim,lee@example.com', 'email-address'],
    ['with a space', 'kim lee@example.com', 'email-address'],
    ['with two dots in a row', 'kim..lee@example.com', 'email-address'],
    ['with a leading dot', '.kim@example.com', 'email-address'],
    ['with a lone quote for a local part', '"@example.com', 'email-address'],
    ['with nothing in quotes', '""@example.com', 'email-address'],
    ['with a local part beyond ASCII', 'dån@example.com', 'email-local-part'],
    ['with a Hangul local part', '김@example.com', 'email-local-part'],
    ['with a local part of 65 characters', `${'x'.repeat(65)}@example.com`, 'email-local-part'],
    ['with a trailing dot', 'kim@example.com.', 'email-domain'],
    ['without a domain', 'kim@', 'email-domain'],
    ['with a domain of one label', 'kim@example', 'email-domain'],
    ['with an IP address for a domain', 'kim@[192.0.2.1]', 'email-domain'],
    ['with a number for a domain', 'kim@192.0.2.1', 'email-domain'],
    ['with an encoded domain', 'kim@ex%61mple.com', 'email-domain'],
    ['with a display name', 'Kim <kim@example.com>', 'email-domain'],
    ['with a line break', 'kim@example.com\r\nBcc: lee@example.com', 'control-characters'],
    ['with a line break in quotes', '"kim\nlee"@example.com', 'control-characters'],
    ['with NUL', 'kim\0@example.com', 'control-characters'],
    ['of 260 characters', `${'k'.repeat(60)}@${'x'.repeat(63)}.${'y'.repeat(63)}.${'z'.repeat(63)}.example`, 'email-address'],
  ])('%s is refused', (_name, text, fault) => {
    expect(normaliseAddress(text)).toEqual({ ok: false, fault });
  });

  it('comes out as printable ASCII, and as itself when it goes in again', () => {
    const text = fc.oneof(
      fc.emailAddress(),
      fc.string({ unit: 'binary' }).map((local) => `${local}@example.com`),
      fc.string(),
    );
    fc.assert(
      fc.property(text, (address) => {
        const verdict = normaliseAddress(address);
        if (!verdict.ok) return;
        expect(verdict.address).toMatch(/^[\x20-\x7e]{3,254}$/);
        expect(normaliseAddress(verdict.address)).toEqual(verdict);
      }),
    );
  });
});
