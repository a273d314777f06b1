import { describe, expect, it } from 'vitest';

import { CASES } from './support/cases.ts';
import { readNamedTests } from './support/named-tests.ts';

const covered = new Set(readNamedTests().flatMap(({ ids }) => ids));

describe('what the product must survive', () => {
  it.each(Object.entries(CASES))('has a test for %s, %s', (id) => {
    expect(covered).toContain(id);
  });
});
