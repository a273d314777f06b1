import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { maskAddress, maskAddresses } from '../../../../../lambda/domain/recipient/masking.ts';

describe('masking a text', () => {
  it.each([
    ['kim@example.com', 'k…@example.com'],
    ['k@example.com', 'k…@example.com'],
    ['김지원@example.com', '김…@example.com'],
    ['told by kim@example.com, and Lee <lee.x+1@b.example>', 'told by k…@example.com, and Lee <l…@b.example>'],
    ['admin-1', 'admin-1'],
    ['', ''],
  ])('makes of %j %j', (text, masked) => {
    expect(maskAddresses(text)).toBe(masked);
  });

  it('keeps no more of an address than a letter and the domain', () => {
    fc.assert(
      fc.property(fc.emailAddress(), fc.constantFrom('', 'ask ', '<'), (address, before) => {
        const at = address.lastIndexOf('@');

        expect(maskAddresses(`${before}${address}`)).toBe(`${before}${address.slice(0, 1)}…${address.slice(at)}`);
      }),
    );
  });
});

describe('masking an address', () => {
  it.each([
    ['kim@example.com', 'k…@example.com'],
    ['"kim lee"@example.com', '"…@example.com'],
    ['"a@b"@example.com', '"…@example.com'],
    ['@example.com', '…@example.com'],
  ])('makes of %j %j', (address, masked) => {
    expect(maskAddress(address)).toBe(masked);
  });
});
