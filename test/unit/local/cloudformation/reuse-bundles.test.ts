import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { reuseBundles } from '../../../../local/cloudformation/reuse-bundles.ts';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'mail-dispatch-bundles-'))));
afterEach(() => {
  rmSync(root, { recursive: true });
});

const file = (assembly: string) => join(root, assembly, 'Dispatch.assets.json');
const asset = (displayName: string, path: string, packaging = 'zip') => ({
  displayName,
  source: { path, packaging },
  destinations: { here: { objectKey: `${displayName}.zip` } },
});
const writeAssembly = (name: string, files: Record<string, ReturnType<typeof asset>>): string => {
  mkdirSync(join(root, name));
  writeFileSync(file(name), JSON.stringify({ version: '1', files }));
  return join(root, name);
};
const readFiles = (assembly: string): unknown => {
  const { files } = JSON.parse(readFileSync(file(assembly), 'utf8')) as { files: unknown };
  return files;
};

const template = asset('Dispatch Template', 'Dispatch.template.json', 'file');

it('takes the code of each function from the same function of the other assembly, and nothing else', () => {
  const lender = writeAssembly('lender', { a: asset('Sweep/Code', 'asset.a'), b: asset('Relay/Code', 'asset.b'), t: template });
  const own = { x: asset('Relay/Code', '/somewhere'), y: asset('Sweep/Code', '/somewhere'), t: template };
  const borrower = writeAssembly('borrower', own);

  reuseBundles(borrower, lender);

  expect(readFiles('borrower')).toEqual({
    x: asset('Relay/Code', '../lender/asset.b'),
    y: asset('Sweep/Code', '../lender/asset.a'),
    t: template,
  });
});

it('takes what the other has borrowed itself from where it is', () => {
  writeAssembly('first', { a: asset('Sweep/Code', 'asset.a') });
  const second = writeAssembly('second', { a: asset('Sweep/Code', '../first/asset.a') });
  const third = writeAssembly('third', { a: asset('Sweep/Code', '/somewhere') });

  reuseBundles(third, second);

  expect(readFiles('third')).toEqual({ a: asset('Sweep/Code', '../first/asset.a') });
});

it('fails when the other has no code of a function', () => {
  const lender = writeAssembly('lender', { a: asset('Sweep/Code', 'asset.a') });
  const borrower = writeAssembly('borrower', { a: asset('Relay/Code', '/somewhere') });

  expect(() => {
    reuseBundles(borrower, lender);
  }).toThrow(`${lender} has no code for Relay/Code`);
});
