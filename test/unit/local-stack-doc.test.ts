import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { FAULTS } from '../../local/fake-ses/faults/faults.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const doc = read('docs/local-stack.md');

describe('the description of the local stack', () => {
  it('explains every fault that can be ordered', () => {
    for (const fault of Object.keys(FAULTS)) expect(doc).toContain(`\`${fault}\``);
  });

  it('explains every setting with its default port', () => {
    const settings = read('local/settings.ts').split('z.object({')[1]?.split('});')[0] ?? '';
    const names = [...settings.matchAll(/^ {2}([A-Z_]+):(?: port\((\d+)\))?/gm)];

    expect(names.length).toBeGreaterThan(10);
    for (const [, name = '', port = ''] of names) expect(doc).toMatch(new RegExp(`^\\| \`${name}\` \\| ${port}`, 'm'));
  });

  it('names only files of the code that exist', () => {
    const paths = [...doc.matchAll(/`((?:local|tools|test)\/[\w./-]+)`/g)].map(([, path = '']) => path);

    expect(paths.length).toBeGreaterThan(5);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe('the description of the tests', () => {
  it('names every command that tests, and every folder of tests', () => {
    const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };
    const testing = read('docs/testing.md');

    for (const name of Object.keys(scripts).filter((each) => each.startsWith('test:')))
      expect(testing).toContain(`npm run ${name}`);
    for (const folder of ['unit', 'contract', 'infra', 'simulation', 'integration', 'chaos', 'leak-scan'])
      expect(testing).toContain(`test/${folder}/`);
  });
});
