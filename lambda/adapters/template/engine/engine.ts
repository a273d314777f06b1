import Handlebars from 'handlebars';

import type { Variables } from '../../../domain/dispatch/content.ts';
import { analyse, type Analysis } from '../content/analyse.ts';
import type { Budget } from './budget.ts';
import { buildProgram } from './build-program.ts';
import { execute, type Run } from './scope.ts';
import { isTooComplex } from './source-limits.ts';

/** The values of one mail, by name. */
export type Values = Record<string, unknown>;

/** A template, parsed and ready. */
export interface CompiledTemplate {
  readonly analysis: Analysis;
  /** Takes what it costs out of the budget. Throws a RenderFault. */
  readonly render: (values: Values, budget: Budget) => string;
}

/** Why a source is no template. */
export interface SourceFault {
  readonly rule: 'template-syntax' | 'template-too-complex';
  readonly line?: number;
}

const syntaxFault = (error: unknown): SourceFault => {
  const [, line, other] = error instanceof Error ? (/ on line (\d+)|- (\d+):\d+$/.exec(error.message) ?? []) : [];
  const found = line ?? other;
  return { rule: 'template-syntax', ...(found !== undefined && { line: Number(found) }) };
};

/**
 * Makes a Handlebars template ready. Handlebars parses it; we run it, and count. Values are escaped in HTML and nowhere
 * else; a value never becomes a template.
 */
export const compile = (source: string, kind: 'html' | 'plain'): CompiledTemplate | SourceFault => {
  if (isTooComplex(source)) return { rule: 'template-too-complex' };
  const escape = kind === 'html' ? Handlebars.Utils.escapeExpression : (text: string): string => text;
  try {
    const parsed = Handlebars.parse(source);
    const analysis = analyse(parsed);
    const program = buildProgram(parsed);
    const render = (values: Values, budget: Budget): string => {
      const run: Run = { budget, escape, out: '', partials: new Map() };
      const data = { values: { root: values }, outer: undefined, partialBlock: undefined };
      execute(program, { contexts: undefined, params: undefined }, run, values, data);
      return run.out;
    };
    return { analysis, render };
  } catch (error) {
    // Nested deeper than the parser can follow.
    return error instanceof RangeError ? { rule: 'template-too-complex' } : syntaxFault(error);
  }
};

/** The values that templates may look up, out of a recipient's own variables and the shared ones. Own ones win. */
export const pickValues = (names: ReadonlySet<string> | undefined, own: Variables, shared: Variables): Values => {
  const values: Values = { __proto__: null };
  if (names === undefined) return Object.assign(values, shared, own);
  for (const name of names) {
    if (Object.hasOwn(own, name)) values[name] = own[name];
    else if (Object.hasOwn(shared, name)) values[name] = shared[name];
  }
  return values;
};
