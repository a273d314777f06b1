import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

interface Import {
  /** As written; files of ours as their path from the root. */
  readonly name: string;
  readonly isOurs: boolean;
  /** Erased whole before the program runs: `import type { .. }`. */
  readonly isTypeOnly: boolean;
}

const isDynamicImport = (node: ts.Node): node is ts.CallExpression =>
  ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;

const importsOf = (file: string): Import[] => {
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, isTypeOnly: boolean): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    const isOurs = specifier.text.startsWith('.');
    found.push({ name: isOurs ? relative(ROOT, join(ROOT, dirname(file), specifier.text)) : specifier.text, isOurs, isTypeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
    if (isDynamicImport(node)) add(node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
};

const filesUnder = (...folders: string[]): string[] =>
  folders
    .filter((folder) => existsSync(join(ROOT, folder)))
    .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)))
    .filter((file) => file.endsWith('.ts'));

/** The first two steps of a path: the layer that a file of lambda/ belongs to. */
const layerOf = (file: string): string => file.split('/').slice(0, 2).join('/');
/** The first three: one adapter, one handler. */
const unitOf = (file: string): string => file.split('/').slice(0, 3).join('/');

const NONE = /^$/;

/** Which layers each layer may import from, and which packages. */
const MAY_IMPORT: Readonly<Record<string, { readonly layers: readonly string[]; readonly packages: RegExp }>> = {
  domain: { layers: ['domain'], packages: NONE },
  application: { layers: ['domain', 'application'], packages: NONE },
  contracts: { layers: ['domain', 'contracts'], packages: /^zod$/ },
  adapters: {
    layers: ['domain', 'application', 'contracts', 'adapters'],
    packages: /^(zod$|canonicalize$|handlebars$|validator(\/|$)|@aws-sdk\/|node:)/,
  },
  config: { layers: ['config'], packages: /^zod$/ },
  observability: { layers: ['observability'], packages: /^(@aws-lambda-powertools\/|node:)/ },
  handlers: {
    layers: ['domain', 'application', 'contracts', 'adapters', 'config', 'observability', 'handlers'],
    packages: /^(?!aws-cdk-lib|constructs)/,
  },
};

const LAMBDA = filesUnder('lambda');

describe.each(LAMBDA)('%s', (file) => {
  it('imports only what its layer may', () => {
    const [, layer = ''] = file.split('/');
    const rule = MAY_IMPORT[layer];
    const allowed = rule?.layers.map((name) => `lambda/${name}`) ?? [];

    const forbidden = importsOf(file).filter(({ name, isOurs }) =>
      isOurs ? !allowed.includes(layerOf(name)) : rule?.packages.test(name) !== true,
    );

    expect(forbidden.map(({ name }) => name)).toEqual([]);
  });

  it('imports no other adapter if it is in one, and no other handler if it is in one', () => {
    const [, layer] = file.split('/');
    const others = importsOf(file).filter(
      ({ name, isOurs }) =>
        isOurs &&
        (layer === 'adapters' || layer === 'handlers') &&
        layerOf(name) === layerOf(file) &&
        unitOf(name) !== unitOf(file),
    );

    expect(others.map(({ name }) => name)).toEqual([]);
  });
});

it('rules, use cases and adapters get their randomness from handlers', () => {
  const own = ['domain', 'application', 'adapters']
    .flatMap((layer) => filesUnder(`lambda/${layer}`))
    .filter((file) => readFileSync(join(ROOT, file), 'utf8').includes('Math.random'));

  expect(own).toEqual([]);
});

it('adapters take nothing of the application but its ports', () => {
  const others = filesUnder('lambda/adapters').flatMap((file) =>
    importsOf(file)
      .filter(({ name }) => layerOf(name) === 'lambda/application' && !name.startsWith('lambda/application/ports/'))
      .map(({ name }) => `${file} imports ${name}`),
  );

  expect(others).toEqual([]);
});

describe.each(filesUnder('lib'))('%s', (file) => {
  const imports = importsOf(file);

  it('imports the CDK, its own folder, and of the functions only the types of their settings', () => {
    const forbidden = imports.filter(({ name, isOurs, isTypeOnly }) => {
      if (!isOurs) return !/^(aws-cdk-lib(\/|$)|constructs$|node:)/.test(name);
      return (
        !name.startsWith('lib/') &&
        name !== 'lambda/contracts/table-keys.ts' &&
        !(isTypeOnly && /^lambda\/handlers\/[^/]+\/env\.ts$/.test(name))
      );
    });

    expect(forbidden.map(({ name }) => name)).toEqual([]);
  });
});

it('bin imports lib only', () => {
  const forbidden = filesUnder('bin').flatMap((file) =>
    importsOf(file).filter(({ name, isOurs }) => (isOurs ? !name.startsWith('lib/') : name !== 'aws-cdk-lib')),
  );

  expect(forbidden.map(({ name }) => name)).toEqual([]);
});

it('nothing that is deployed imports a test, the local stack or a tool', () => {
  const forbidden = filesUnder('bin', 'lib', 'lambda').flatMap((file) =>
    importsOf(file).filter(({ name, isOurs }) => isOurs && /^(test|local|tools|bench)\//.test(name)),
  );

  expect(forbidden.map(({ name }) => name)).toEqual([]);
});

it('no tool imports a test, the local stack imports neither tools nor tests, and what judges a deployment shares no code with it', () => {
  const imports = (folder: string, forbidden: RegExp) =>
    filesUnder(folder).flatMap((file) =>
      importsOf(file)
        .filter(({ name, isOurs }) => isOurs && forbidden.test(name))
        .map(({ name }) => `${file} imports ${name}`),
    );

  expect([
    ...imports('tools', /^test\//),
    ...imports('bench', /^test\//),
    ...imports('local', /^(tools|bench|test)\//),
    ...imports('tools/verify-deployment', /^(bin|lib|lambda)\//),
  ]).toEqual([]);
});

it('a check of a deployment imports no other check', () => {
  const others = filesUnder('tools/verify-deployment/checks').flatMap((file) =>
    importsOf(file)
      .filter(({ name }) => /^tools\/verify-deployment\/(checks|targets)\//.test(name))
      .map(({ name }) => `${file} imports ${name}`),
  );

  expect(others).toEqual([]);
});

it('only bin and the functions’ roots read the environment', () => {
  const readers = filesUnder('bin', 'lib', 'lambda').filter((file) =>
    readFileSync(join(ROOT, file), 'utf8').includes('process.env'),
  );
  const allowed = readers.filter((file) => file.startsWith('bin/') || /^lambda\/handlers\/[^/]+\/index\.ts$/.test(file));

  expect(readers).toEqual(allowed);
});
