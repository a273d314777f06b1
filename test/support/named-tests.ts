import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import ts from 'typescript';

const ROOT = resolve(import.meta.dirname, '../..');

/** The ids that a name carries, such as `(S1, U4)`. */
const IDS = /\s*\(((?:[A-Z]\d+b?)(?:, [A-Z]\d+b?)*)\)/g;

/** A test whose name carries ids of cases. */
export interface NamedTest {
  readonly ids: readonly string[];
  readonly name: string;
  readonly layer: string;
  readonly file: string;
}

const layerOf = (file: string, text: string): string => {
  const [, folder = ''] = file.split('/');
  const layers: Readonly<Record<string, string>> = { infra: 'template', contract: 'contract', simulation: 'simulation' };
  if (folder === 'integration') return /support\/stack\.ts|ordeal\/run\.ts/.test(text) ? 'real run' : 'table';
  return layers[folder] ?? 'unit';
};

/** A name as a sentence: without ids, and without what a table fills in. */
const toSentence = (text: string): string =>
  text
    .replace(IDS, '')
    .replaceAll(/[:,]?\s*%[sij]/g, ' …')
    .trim();

const isDescribe = (node: ts.Node): node is ts.CallExpression =>
  ts.isCallExpression(node) && /^describe\b/.test(node.expression.getText());

/** The names of the groups around a node, the outermost first. */
const groupsAround = (node: ts.Node): string[] => {
  const groups: string[] = [];
  for (let at = node.parent; !ts.isSourceFile(at); at = at.parent) {
    const title = isDescribe(at) ? at.arguments[0] : undefined;
    if (title !== undefined && title !== node && ts.isStringLiteralLike(title)) groups.unshift(toSentence(title.text));
  }
  return groups;
};

/** Names stand in calls and in tables of cases alike, so every text of a test file is looked at. */
const namedTestsOf = (file: string): NamedTest[] => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const layer = layerOf(file, text);
  const found: NamedTest[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) {
      const ids = [...node.text.matchAll(IDS)].flatMap(([, list = '']) => list.split(', '));
      const name = [...groupsAround(node), toSentence(node.text)].join(' › ');
      if (ids.length > 0) found.push({ ids, name, layer, file });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
};

/** Every test file's named tests, in the order of the files. */
export const readNamedTests = (): NamedTest[] =>
  readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join('test', file))
    .toSorted()
    .flatMap(namedTestsOf);
