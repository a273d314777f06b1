import { describe, expect, it } from 'vitest';

import { isFresh, isServable, type TemplateCopy } from '../../../../../lambda/domain/dispatch/template-copy.ts';
import { T0 } from '../../../../support/clock.ts';

const copy = (found: TemplateCopy['found'], freshSeconds = 7): TemplateCopy => ({ found, fetchedAt: T0, freshSeconds });
const template = copy({ kind: 'template', template: { subject: 'Hello' }, version: 'v-1' });

describe('a copy of a template', () => {
  it('is fresh for as long as its fetcher said', () => {
    expect([isFresh(template, T0 + 6_999), isFresh(template, T0 + 7_000)]).toEqual([true, false]);
  });

  it('that says there is none is fresh for five seconds', () => {
    const missing = copy({ kind: 'missing' }, 60);

    expect([isFresh(missing, T0 + 4_999), isFresh(missing, T0 + 5_000)]).toEqual([true, false]);
  });

  it.each<[string, TemplateCopy, number, boolean]>([
    ['of a template', template, 600_000, true],
    ['of a template', template, 600_001, false],
    ['of one that is too large', copy({ kind: 'too-large' }), 600_000, true],
    ['of none', copy({ kind: 'missing' }), 1, false],
  ])('%s is used when SES cannot be asked: after %3$i ms %4$s', (_name, given, age, expected) => {
    expect(isServable(given, T0 + age)).toBe(expected);
  });
});
