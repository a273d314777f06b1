import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const CONFIG = join(ROOT, 'lib/config');

const code = readdirSync(CONFIG, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(CONFIG, name), 'utf8'))
  .join('\n');
/** Names that settings are read by. */
const read = new Set([...code.matchAll(/\bread\.\w+\(\s*'(\w+)'/g)].map(([, name = '']) => name));
/** Of each row of the table the names, and the defaults in the same order. */
const rows = readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|'))
  .map(([, names = '', defaults = '']) => ({
    names: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
    defaults: defaults.split(',').map((each) => each.trim()),
  }));

describe('the table of settings', () => {
  it('has every setting once, and no other', () => {
    expect(read.size).toBeGreaterThan(25);
    expect(rows.flatMap(({ names }) => names).toSorted()).toEqual([...read].toSorted());
  });

  it('shows the default of each number', () => {
    const numbers = [...code.matchAll(/\bread\.number\(\s*'(\w+)',\s*([\d_.]+),/g)];

    expect(numbers.length).toBeGreaterThan(15);
    for (const [, name = '', number = ''] of numbers) {
      const row = rows.find(({ names }) => names.includes(name));
      expect(row?.defaults[row.names.indexOf(name)], name).toBe(String(Number(number.replaceAll('_', ''))));
    }
  });
});
