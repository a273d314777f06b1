import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { formatMailbox } from '../../../../../lambda/adapters/addresses/mailbox.ts';
import { normaliseAddress } from '../../../../../lambda/adapters/addresses/normalise-address.ts';

const format = (text: string) => formatMailbox(text, normaliseAddress);

/** Decodes what RFC 2047 calls encoded words. */
const decode = (header: string) =>
  header
    .replace(/\?= =\?/g, '?==?')
    .replace(/=\?UTF-8\?B\?([^?]*)\?=/g, (_word, base64: string) =>
      new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64')),
    );

describe('a sender', () => {
  it.each([
    ['an address alone', 'jobs@example.com', 'jobs@example.com'],
    ['an address in brackets', '<jobs@example.com>', 'jobs@example.com'],
    ['a plain name', 'Jobs <jobs@EXAMPLE.com>', '"Jobs" <jobs@example.com>'],
    ['a name with a comma (U13)', 'Karen, Chan <karen@example.com>', '"Karen, Chan" <karen@example.com>'],
    ['a name that is quoted already', '"Karen, Chan" <karen@example.com>', '"Karen, Chan" <karen@example.com>'],
    ['a Hangul name', '채용팀 <jobs@example.com>', '=?UTF-8?B?7LGE7Jqp7YyA?= <jobs@example.com>'],
    ['a name with quotes', 'The "Jobs" Team <jobs@example.com>', '=?UTF-8?B?VGhlICJKb2JzIiBUZWFt?= <jobs@example.com>'],
  ])('%s becomes a header that means one mailbox', (_name, text, header) => {
    expect(format(text)).toBe(header);
  });

  it('has a long name in words of at most 75 characters, none cut within a character (U14)', () => {
    const name = '채용팀 😀👩‍👩‍👧 '.repeat(8).trim();

    const header = format(`${name} <jobs@example.com>`);

    expect(header.split(' ').every((word) => word.length <= 75)).toBe(true);
    expect(decode(header)).toBe(`${name} <jobs@example.com>`);
  });

  it('keeps any name, in printable ASCII', () => {
    const names = fc.string({ unit: 'grapheme' }).filter((name) => name.trim() !== '' && !/[<>"\p{Cc}]/u.test(name));
    fc.assert(
      fc.property(names, (name) => {
        const header = format(`${name} <jobs@example.com>`);
        expect(header).toMatch(/^[\x20-\x7e]+$/);
        expect(decode(header).replace(/^"(.*)" </, '$1 <')).toBe(`${name.trim()} <jobs@example.com>`);
      }),
    );
  });

  it.each([['not an address'], ['Jobs <jobs>'], ['a@example.com, b@example.com'], ['Jobs\nBcc: x <jobs@example.com>'], ['']])(
    'fails when it is %j',
    (text) => {
      expect(() => format(text)).toThrow();
    },
  );
});
