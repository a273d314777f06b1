import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseMailbox } from '../../lib/config/mailbox.ts';

const format = (text: string): string => {
  const parsed = parseMailbox(text);
  if (!parsed.ok) throw new Error(parsed.rule);
  return parsed.value.header;
};

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
    [
      'a name that is quoted with an escape',
      '"The \\"Jobs\\" Team" <jobs@example.com>',
      '=?UTF-8?B?VGhlICJKb2JzIiBUZWFt?= <jobs@example.com>',
    ],
    ['a quoted name with a bracket', '"Jobs <Seoul>" <jobs@example.com>', '"Jobs <Seoul>" <jobs@example.com>'],
    ['an empty name', '"" <jobs@example.com>', 'jobs@example.com'],
    ['an international domain (U12)', 'Jobs <Jobs@Bücher.Example>', '"Jobs" <Jobs@xn--bcher-kva.example>'],
    ['a Hangul domain', 'jobs@회사.한국', 'jobs@xn--vf4b131b.xn--3e0b707e'],
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
    const names = fc
      .string({ unit: 'grapheme' })
      .filter((name) => name.trim() !== '' && !/[<>"\p{Cc}\u2028\u2029]|=\?/u.test(name));
    fc.assert(
      fc.property(names, (name) => {
        const header = format(`${name} <jobs@example.com>`);
        expect(header).toMatch(/^[\x20-\x7e]+$/);
        expect(decode(header).replace(/^"(.*)" </, '$1 <')).toBe(`${name.trim()} <jobs@example.com>`);
      }),
    );
  });

  it.each([
    ['not an address', /name@host/],
    ['', /name@host/],
    ['Jobs <jobs>', /name@host/],
    ['Jobs a@b.example', /before the @/],
    ['a@example.com, b@example.com', /before the @/],
    ['a@b@c.example', /before the @/],
    ['dån@example.com', /before the @/],
    ['.jobs@example.com', /before the @/],
    ['"jobs team"@example.com', /before the @/],
    ['*@example.com', /before the @/],
    ['${aws:username}@example.com', /before the @/],
    [`${'a'.repeat(65)}@example.com`, /before the @/],
    ['jobs@localhost', /after the @/],
    ['jobs@10.0.0.1', /after the @/],
    ['jobs@ex%61mple.com', /after the @/],
    ['jobs@-example.com', /after the @/],
    ['jobs@example.com.', /after the @/],
    [`jobs@${'a'.repeat(64)}.com`, /after the @/],
    ['Jobs\nBcc: x <jobs@example.com>', /display name/],
    ['A <a@example.com>, B <b@example.com>', /display name/],
    ['=?UTF-8?B?7LGE7Jqp7YyA?= <jobs@example.com>', /display name/],
    ['\ud800 <jobs@example.com>', /display name/],
  ])('%j is refused with the rule that it breaks', (text, rule) => {
    expect(parseMailbox(text)).toMatchObject({ ok: false, rule: expect.stringMatching(rule) as unknown });
  });

  it('keeps the local part as it is, and says address and domain of what it sends', () => {
    expect(parseMailbox('Hiring <No-Reply@Mail.EXAMPLE.org>')).toMatchObject({
      ok: true,
      value: { address: 'No-Reply@mail.example.org', domain: 'mail.example.org' },
    });
  });

  it('is the same again when it is normalised twice, without a name that must be encoded', () => {
    for (const text of ['Jobs <jobs@EXAMPLE.com>', 'Karen, Chan <a@Bücher.example>', 'jobs@example.com'])
      expect(format(format(text))).toBe(format(text));
  });
});
