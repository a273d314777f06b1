import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

import { describe, expect, it } from 'vitest';
import * as z from 'zod';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const readJson = (file: string): unknown => JSON.parse(read(file));

const Versions = z.record(z.string(), z.string());
const Package = z.object({
  license: z.string(),
  engines: z.object({ node: z.string() }),
  scripts: Versions,
  dependencies: Versions,
  devDependencies: Versions,
});
const project = Package.parse(readJson('package.json'));
const checker = z
  .object({
    explainNode: z.function({
      input: [z.object({ version: z.string(), typescript: z.unknown() })],
      output: z.string().optional(),
    }),
  })
  .parse(createRequire(import.meta.url)('../../tools/check-node.cjs'));

/** Packages that the functions' sources import. */
const importedByFunctions = (): Set<string> => {
  const files = readdirSync(join(ROOT, 'lambda'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const specifiers = files.flatMap((file) =>
    [...read(join('lambda', file)).matchAll(/^(?:import|export|\}) (?!type\b).*?from '([^'.][^']*)'/gm)].map(
      ([, name = '']) => name,
    ),
  );
  const names = specifiers.map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
  return new Set(names.filter((name) => !name.startsWith('node:')));
};

describe('the project', () => {
  it('has one license', () => {
    expect(read('LICENSE')).toMatch(/^MIT License\n\nCopyright \(c\) \d{4} the mail-dispatch authors\n/);
    expect(project.license).toBe('MIT');
    expect(readJson('package-lock.json')).toMatchObject({ packages: { '': { license: 'MIT', engines: project.engines } } });
  });

  it('names one Node for development, for the scripts, for the types and for the functions', () => {
    const major = read('.nvmrc').trim();

    expect(project.devDependencies['node']?.split('.')[0]).toBe(major);
    expect(project.devDependencies['@types/node']?.split('.')[0]).toBe(major);
    expect(read('lib/constructs/service-function.ts')).toContain(`Runtime.NODEJS_${major}_X`);
    expect(project.engines.node.split(' || ')).toContain(`^${major}.0.0`);
  });

  it('names in the README the oldest Node of engines', () => {
    const [oldest = ''] = project.engines.node.split(' || ');

    expect(read('README.md')).toContain(`Node ${oldest.replace(/^\^|\.0$/g, '')} or later`);
  });

  it('deploys nothing but its dependencies, and has no other dependencies', () => {
    expect(Object.keys(project.dependencies).toSorted()).toEqual([...importedByFunctions()].toSorted());
  });

  it('checks the Node before each script that runs TypeScript', () => {
    const unchecked = Object.entries(project.scripts)
      .filter(([, command]) => /\bnode \S+\.ts\b|\bvitest\b|\bcdk\b/.test(command))
      .filter(([name]) => project.scripts[`pre${name}`] !== 'node tools/check-node.cjs')
      .map(([name]) => name);

    expect(unchecked).toEqual([]);
  });

  it('is checked by the same script on GitHub as everywhere', () => {
    expect(read('.github/workflows/ci.yml')).toContain('- run: .ci/run\n');
    expect(existsSync(join(ROOT, '.ci/run'))).toBe(true);
  });
});

describe('the contribution guide', () => {
  it('names only files and folders that exist', () => {
    const named = [...read('CONTRIBUTING.md').matchAll(/`((?:lambda|lib|bin|local|tools|bench|test|docs)\/[^`<]*)`/g)].map(
      ([, path = '']) => path,
    );

    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it.each(['route', 'metric', 'alarm', 'error code', 'function'])('explains in five steps how to add one: %s', (thing) => {
    const [, section = ''] = read('CONTRIBUTING.md').split(new RegExp(`^## Add an? ${thing}$`, 'm'));

    expect(section.split(/^## /m)[0]?.match(/^\d\. /gm)).toEqual(['1. ', '2. ', '3. ', '4. ', '5. ']);
  });
});

describe('the check of Node', () => {
  it.each([
    ['20.20.2', undefined],
    ['22.17.1', 'strip'],
    ['24.21.0', false],
  ])('refuses Node %s with type stripping %s, and names the command that helps', (version, typescript) => {
    const problem = checker.explainNode({ version, typescript });

    expect(problem).toContain(`Node ${version} cannot run this project`);
    expect(problem).toContain('npm rebuild node');
  });

  it.each(['22.18.0', '24.0.0', '26.1.0'])('accepts Node %s', (version) => {
    expect(checker.explainNode({ version, typescript: 'strip' })).toBeUndefined();
  });

  it('passes under the Node that runs the tests', () => {
    expect(spawnSync(process.execPath, [join(ROOT, 'tools/check-node.cjs')], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });

  it('says so and ends with 1 where there is no type stripping', () => {
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--no-experimental-strip-types', join(ROOT, 'tools/check-node.cjs')],
      {
        encoding: 'utf8',
      },
    );

    expect(status).toBe(1);
    expect(stderr).toContain('cannot run this project');
  });
});
