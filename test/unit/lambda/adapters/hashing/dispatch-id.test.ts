import fc from 'fast-check';
import { expect, it } from 'vitest';

import { dispatchIdOf } from '../../../../../lambda/adapters/hashing/dispatch-id.ts';

it('is the base32 of SHA-256 over both, each with its length before it', () => {
  // printf '7:admin-15:key-1' | sha256sum | xxd -r -p | base32 | tr A-Z a-z | tr -d =
  expect(dispatchIdOf('admin-1', 'key-1')).toBe('xyi7eorc5hdjwfrr55qhj5o6yscwxrsl6bgnhi4ttsoqj7b67mda');
});

it('is 52 characters that fit a path, a tag and a key', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (admin, key) => {
      expect(dispatchIdOf(admin, key)).toMatch(/^[a-z2-7]{52}$/);
    }),
  );
});

it('is another one wherever the same characters are cut', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), fc.nat(), fc.nat(), (a, b, i, j) => {
      const characters = Array.from(a + b);
      const cut = (at: number): [string, string] => [characters.slice(0, at).join(''), characters.slice(at).join('')];
      const one = cut(i % (characters.length + 1));
      const other = cut(j % (characters.length + 1));
      expect(dispatchIdOf(...one) === dispatchIdOf(...other)).toBe(one[0] === other[0]);
    }),
  );
});

it.each<[[string, string], [string, string]]>([
  [
    ['a', 'bc'],
    ['ab', 'c'],
  ],
  [
    ['a1:b', 'c'],
    ['a', '1:bc'],
  ],
  [
    ['', 'a'],
    ['a', ''],
  ],
  // One character of two bytes is not two of one.
  [
    ['é', 'x'],
    ['Ã©', 'x'],
  ],
])('tells %j from %j', (one, other) => {
  expect(dispatchIdOf(...one)).not.toBe(dispatchIdOf(...other));
});
