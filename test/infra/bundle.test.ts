import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';

import { buildApp, environmentOf, one, plain, ROOT } from './synthesized.ts';

const BIN = join(ROOT, 'node_modules/.bin');
const FUNCTIONS = [
  'AcceptDispatch',
  'ReadDispatches',
  'OperateDispatches',
  'OperateSending',
  'RelayOutbox',
  'CarryOutTask',
  'SendRecipients',
  'ApplyFeedback',
  'Sweep',
];

let template: Template;
let assembly: string;

beforeAll(() => {
  // CDK looks for esbuild where npm puts it while a script runs.
  process.env['PATH'] = `${BIN}${delimiter}${process.env['PATH'] ?? ''}`;
  const { app, dispatch } = buildApp('local', {}, ['**']);
  assembly = app.synth().directory;
  template = Template.fromStack(dispatch);
}, 120_000);

const folderOf = (name: string): string => {
  const { S3Key } = one(template, 'AWS::Lambda::Function', `${name}Function`).Properties['Code'] as { S3Key: string };
  return join(assembly, `asset.${S3Key.replace('.zip', '')}`);
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
