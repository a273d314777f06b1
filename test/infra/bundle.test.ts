import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';

import { type Assembly, readAssembly } from '../../local/cloudformation/assembly.ts';
import { provideAssembly } from '../../local/cloudformation/synth.ts';
import { readSettings } from '../../local/settings.ts';
import { environmentOf, one, plain, ROOT } from './synthesized.ts';

const BIN = join(ROOT, 'node_modules/.bin');
const FUNCTIONS = [
  'AcceptDispatch',
  'ReadDispatches',
  'OperateDispatches',
  'OperateSending',
  'RelayOutbox',
  'FollowProgress',
  'RunTask',
  'SendRecipients',
  'ApplyFeedback',
  'ShowOperations',
  'Sweep',
];

let template: Template;
let assembly: Assembly;

// The same that the local stack runs, so that it is made once for both.
beforeAll(async () => {
  const directory = await provideAssembly(readSettings(process.env));
  assembly = readAssembly(directory);
  const file = join(directory, 'Dispatch.template.json');
  template = Template.fromJSON(JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>);
}, 180_000);

const folderOf = (name: string): string => {
  const { S3Key } = one(template, 'AWS::Lambda::Function', `${name}Function`).Properties['Code'] as { S3Key: string };
  const folder = assembly.assets.get(S3Key);
  if (folder === undefined) throw new Error(`the assembly has no code for ${name}`);
  return folder;
};

/** Loads the bundle as Lambda does, and tells what it exports. */
const load = (name: string): { readonly stdout: string; readonly stderr: string } => {
  const file = pathToFileURL(join(folderOf(name), 'index.mjs')).href;
  const settings = Object.entries(environmentOf(template, name)).map(([key, value]): [string, string] => [key, plain(value)]);
  return spawnSync(
    join(BIN, 'node'),
    [
      '--input-type=module',
      '--eval',
      `const { handler } = await import(${JSON.stringify(file)}); console.log(typeof handler, handler.length);`,
    ],
    { encoding: 'utf8', env: { ...Object.fromEntries(settings), AWS_REGION: 'eu-central-1', AWS_LAMBDA_FUNCTION_NAME: name } },
  );
};

describe.each(FUNCTIONS)('the bundle of %s', (name) => {
  it('is one ES module with its source map', () => {
    expect(readdirSync(folderOf(name)).sort()).toEqual(['index.mjs', 'index.mjs.map']);
    expect(readFileSync(join(folderOf(name), 'index.mjs'), 'utf8')).toMatch(/export\s*\{/);
  });

  it('carries its own AWS SDK: nothing is imported but what Node has (B1)', () => {
    const code = readFileSync(join(folderOf(name), 'index.mjs'), 'utf8');
    const imported = [...code.matchAll(/(?:^|[;}\s])import\s*(?:[\w$*{][^;'"`()]*?from\s*)?["']([^"']+)["']/g)].map(
      ([, module = '']) => module,
    );

    expect(imported.length).toBeGreaterThan(0);
    expect(imported.filter((module) => module.startsWith('@') || module.startsWith('.'))).toEqual([]);
  });

  it('exports a handler without a callback, which Node 24 no longer has (B1)', () => {
    const { stdout, stderr } = load(name);

    expect(stderr).toBe('');
    expect(stdout).toMatch(/^function [012]\n$/);
  });
});

it('the sender brings an SDK that lets a request time out with an error (B1)', () => {
  expect(readFileSync(join(folderOf('SendRecipients'), 'index.mjs'), 'utf8')).toContain('throwOnRequestTimeout');
});
