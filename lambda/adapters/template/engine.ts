import Handlebars from 'handlebars';

import type { Variables } from '../../domain/content.ts';
import { analyse, type Analysis } from './analyse.ts';
import { RenderFault } from './render-fault.ts';

/** The values of one mail, by name. */
export type Values = Record<string, unknown>;

/** A template, parsed and ready. */
export interface CompiledTemplate {
  readonly analysis: Analysis;
  /** Throws a {@link RenderFault}. */
  readonly render: (values: Values) => string;
}

/** Why a source is no template. */
export interface SyntaxFault {
  readonly line?: number;
}

const handlebars = Handlebars.create();
// It would write values to the log.
handlebars.unregisterHelper('log');

const OPTIONS = {
  strict: true,
  // A name is never a function call, whatever the variables hold.
  knownHelpersOnly: true,
  knownHelpers: { log: false },
};

/** Handlebars' sentence goes on with the object, which may be a value. */
const MISSING = /^"([^"]*)" not defined in /;

const toRenderFault = (error: unknown): RenderFault => {
  const [, name] = error instanceof Error ? (MISSING.exec(error.message) ?? []) : [];
  return name === undefined ? new RenderFault('rendering-failed') : new RenderFault('missing-variable', name);
};

const lineOf = (error: unknown): SyntaxFault => {
  const [, line] = error instanceof Error ? (/ on line (\d+)|- (\d+):\d+$/.exec(error.message) ?? []) : [];
  return line === undefined ? {} : { line: Number(line) };
};

/** Compiles a Handlebars template. Values are escaped in HTML and nowhere else; a value never becomes a template. */
export const compile = (source: string, kind: 'html' | 'plain'): CompiledTemplate | SyntaxFault => {
  const options = { ...OPTIONS, noEscape: kind === 'plain' };
  try {
    const analysis = analyse(handlebars.parse(source));
    // Compiling itself is put off until the first use, and would fail there.
    if (analysis.unknownHelpers.length === 0) handlebars.precompile(source, options);
    const template = handlebars.compile<Values>(source, options);
    const render = (values: Values): string => {
      try {
        return template(values);
      } catch (error) {
        throw toRenderFault(error);
      }
    };
    return { analysis, render };
  } catch (error) {
    return lineOf(error);
  }
};

/**
 * Under the values there is no Object.prototype: `{{constructor}}` must be missing like every other name. Handlebars
 * still compares the object with values by `!=` and puts it into messages; NaN serves both and equals no value.
 */
const NO_PROTOTYPE = { __proto__: null, [Symbol.toPrimitive]: () => NaN };

/** The values that templates may look up, out of a recipient's own variables and the shared ones. Own ones win. */
export const pickValues = (names: ReadonlySet<string> | undefined, own: Variables, shared: Variables): Values => {
  const values: Values = { __proto__: NO_PROTOTYPE };
  if (names === undefined) return Object.assign(values, shared, own);
  for (const name of names) {
    if (Object.hasOwn(own, name)) values[name] = own[name];
    else if (Object.hasOwn(shared, name)) values[name] = shared[name];
  }
  return values;
};
