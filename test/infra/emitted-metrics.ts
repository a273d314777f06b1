import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import ts from 'typescript';

const HANDLERS = resolve(import.meta.dirname, '../../lambda/handlers');

const textsUnder = (root: ts.Node, isWanted: (part: ts.Node) => string | undefined): string[] => {
  const found: string[] = [];
  const collect = (part: ts.Node): void => {
    const text = isWanted(part);
    if (text !== undefined) found.push(text);
    ts.forEachChild(part, collect);
  };
  collect(root);
  return found;
};

/**
 * Names that a handler can give to a metric: what it counts or adds by name, and what stands in a list of names, which are
 * written like types while signals are not.
 */
export const emittedNames = (): Set<string> => {
  const names = new Set<string>();
  const look = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /(^|\.)(count|addMetric)$/.test(node.expression.getText())) {
      const [name] = node.arguments;
      if (name !== undefined)
        for (const text of textsUnder(name, (part) => (ts.isStringLiteral(part) ? part.text : undefined))) names.add(text);
    }
    if (ts.isVariableDeclaration(node) && /METRIC|^REFUSED$/.test(node.name.getText()) && node.initializer !== undefined) {
      const values = textsUnder(node.initializer, (part) =>
        ts.isPropertyAssignment(part) && ts.isStringLiteral(part.initializer) ? part.initializer.text : undefined,
      );
      for (const text of values) names.add(text);
    }
    ts.forEachChild(node, look);
  };
  for (const file of readdirSync(HANDLERS, { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.ts')))
    look(ts.createSourceFile(file, readFileSync(join(HANDLERS, file), 'utf8'), ts.ScriptTarget.Latest, true));
  return names;
};
