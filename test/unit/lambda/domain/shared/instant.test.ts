import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { expiryAfter, fromIso, toIso } from '../../../../../lambda/domain/shared/instant.ts';

const instant = fc.integer({ min: 0, max: Date.parse('9999-12-31T23:59:59.999Z') });

describe('an instant', () => {
  it('is written in UTC with milliseconds', () => {
    expect(toIso(Date.parse('2026-03-02T18:00:00.5+09:00'))).toBe('2026-03-02T09:00:00.500Z');
  });

  it('is the same after it was written and read', () => {
    fc.assert(
      fc.property(instant, (at) => {
        expect(fromIso(toIso(at))).toBe(at);
      }),
    );
  });

  it('sorts as text as it sorts in time', () => {
    fc.assert(
      fc.property(instant, instant, (a, b) => {
        expect(toIso(a) <= toIso(b)).toBe(a <= b);
      }),
    );
  });

  it('fails on text that is none', () => {
    expect(() => fromIso('yesterday')).toThrow(RangeError);
  });

  it('expires as whole seconds, days later', () => {
    expect(expiryAfter(Date.parse('2026-03-02T09:00:00.999Z'), 180)).toBe(Date.parse('2026-08-29T09:00:00.000Z') / 1000);
  });
});
