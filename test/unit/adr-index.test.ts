import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

const ADR = join(import.meta.dirname, '../../docs/adr');
const records = readdirSync(ADR).filter((name) => /^\d{4}-.*\.md$/.test(name));
const links = [...readFileSync(join(ADR, 'README.md'), 'utf8').matchAll(/^\| \[(\d+)\]\(([^)]+)\)/gm)].map(
  ([, number = '', file = '']) => ({ number, file }),
);

describe('the index of decisions', () => {
  it('names every record once, and no record that does not exist', () => {
    expect(links.map(({ file }) => file).sort()).toEqual(records.sort());
  });

  it('shows each record under its own number', () => {
    for (const { number, file } of links) expect(file, number).toMatch(new RegExp(`^0*${number}-`));
  });
});
