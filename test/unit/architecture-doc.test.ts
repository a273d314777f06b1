import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const doc = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
const section = (title: string): string => doc.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
const firstCells = (text: string): string[] => [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell = '']) => cell);

describe('the description of the architecture', () => {
  it('has a row for each function', () => {
    // A folder that git left behind when its function moved is empty.
    const functions = readdirSync(join(ROOT, 'lambda/handlers')).filter((name) =>
      existsSync(join(ROOT, 'lambda/handlers', name, 'index.ts')),
    );
    expect(firstCells(section('Functions and their triggers')).sort()).toEqual(functions.sort());
  });

  it('has a row for each control item', () => {
    const keys = readFileSync(join(ROOT, 'lambda/adapters/dynamo/client/keys.ts'), 'utf8');
    const names = /controlKey = \(\s*name:([^)]*)/.exec(keys)?.[1] ?? '';
    const control = firstCells(section('Items of the table').split('`CONTROL`:')[1] ?? '');

    expect(control.sort()).toEqual([...names.matchAll(/'([A-Z_]+)'/g)].map(([, name = '']) => name).sort());
  });

  it('names each beginning of a key that the table has', () => {
    const keys = readFileSync(join(ROOT, 'lambda/contracts/table-keys.ts'), 'utf8');
    const prefixes = [...keys.matchAll(/= '([A-Z_]+#?)'/g)].map(([, prefix = '']) => prefix);

    expect(prefixes.length).toBeGreaterThan(5);
    for (const prefix of prefixes) expect(section('Items of the table')).toContain(`\`${prefix}`);
  });

  it('names only files and folders that exist', () => {
    const inLib = /^(stacks|constructs|monitoring|config)\//;
    const inLambda = /^(domain|application|contracts|adapters|handlers)\//;
    const rows = section('Where each feature is')
      .split('\n')
      .filter((line) => line.startsWith('| ') && line.includes('`'));
    const paths = rows.flatMap((row) => [...row.matchAll(/`([a-z][\w./-]*\/[\w./-]*)`/g)].map(([, path = '']) => path));
    const places = paths.map((path) => (inLambda.test(path) ? `lambda/${path}` : inLib.test(path) ? `lib/${path}` : path));

    expect(places.length).toBeGreaterThan(40);
    expect(places.filter((place) => !existsSync(join(ROOT, place)))).toEqual([]);
  });
});
