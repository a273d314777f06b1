import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

const code = ['lambda', 'lib', 'bin', 'local', 'tools']
  .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(ROOT, name), 'utf8'))
  .join('\n');

/** Whole names only: `unclear` is not shown by `unclearPolicy`. */
const occurs = (name: string): boolean => new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(code);

const terms = readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| term |'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, term = '', meaning = '', names = '']) => ({
    term,
    meaning,
    names: [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  }));

describe('the glossary', () => {
  it('gives each term one meaning and at least one name', () => {
    expect(terms.length).toBeGreaterThan(50);
    expect(new Set(terms.map(({ term }) => term)).size).toBe(terms.length);
    for (const { term, meaning, names } of terms) {
      expect(meaning, term).not.toBe('');
      expect(names, term).not.toEqual([]);
    }
  });

  it('uses no name that the code does not have', () => {
    const unknown = terms.flatMap(({ term, names }) => names.filter((name) => !occurs(name)).map((name) => `${term}: ${name}`));

    expect(unknown).toEqual([]);
  });
});
