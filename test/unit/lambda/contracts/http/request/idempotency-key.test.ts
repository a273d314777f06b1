import { describe, expect, it } from 'vitest';

import { parseIdempotencyKey } from '../../../../../../lambda/contracts/http/request/idempotency-key.ts';

describe('an Idempotency-Key', () => {
  it.each([
    ['bare', '8e03978e-40d5', '8e03978e-40d5'],
    ['quoted', '"8e03978e-40d5"', '8e03978e-40d5'],
    ['quoted with escapes', '"a\\"b\\\\c"', 'a"b\\c'],
    ['among spaces', '  abc ', 'abc'],
    ['of 255 characters', 'x'.repeat(255), 'x'.repeat(255)],
    ['with a quote in it', 'a"b', 'a"b'],
  ])('may be %s', (_name, header, key) => {
    expect(parseIdempotencyKey(header)).toEqual({ ok: true, key });
  });

  it.each([
    ['absent', undefined, 'missing'],
    ['empty', '', 'missing'],
    ['blank', '  ', 'missing'],
    ['empty in quotes', '""', 'invalid'],
    ['of 256 characters', 'x'.repeat(256), 'invalid'],
    ['with a space', 'a b', 'invalid'],
    ['with a space in quotes', '"a b"', 'invalid'],
    ['beyond ASCII', 'ключ', 'invalid'],
    ['with a control character', 'a\u0007b', 'invalid'],
    ['quoted and not closed', '"abc', 'invalid'],
    ['quoted with a quote inside', '"a"b"', 'invalid'],
  ])('is refused when %s', (_name, header, why) => {
    expect(parseIdempotencyKey(header)).toEqual({ ok: false, why });
  });
});
