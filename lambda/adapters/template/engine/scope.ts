import type { Budget } from './budget.ts';

/** One rendering of one template: what changes while it runs. */
export interface Run {
  readonly budget: Budget;
  readonly escape: (text: string) => string;
  out: string;
  /** Inline partials that can be called at the moment. */
  partials: ReadonlyMap<string, Partial>;
}

/** A context and those around it: `..` goes one further out. */
export interface Contexts {
  readonly context: unknown;
  readonly outer: Contexts | undefined;
}

/** What `as |item index|` names. */
interface BlockParams {
  readonly names: readonly string[];
  readonly values: readonly unknown[];
  readonly outer: BlockParams | undefined;
}

/** What `@` names: `@root`, `@index` and the like. */
export interface Data {
  readonly values: Readonly<Record<string, unknown>>;
  readonly outer: Data | undefined;
  readonly partialBlock: PartialBlock | undefined;
}

/** Where a program was written: what it sees of its surroundings. */
export interface Place {
  readonly contexts: Contexts | undefined;
  readonly params: BlockParams | undefined;
}

/** What a statement works with. */
export interface Scope extends Place {
  readonly run: Run;
  readonly contexts: Contexts;
  readonly data: Data;
}

/** One statement, ready to be executed. */
export type Statement = (scope: Scope) => void;

/** One expression, ready to be evaluated. */
export type Expression = (scope: Scope) => unknown;

/** The inside of a block, an inline partial or a whole template. */
export interface Program {
  readonly statements: readonly Statement[];
  readonly inlines: ReadonlyMap<string, Program>;
  readonly params: readonly string[];
}

/** An inline partial with the place of its definition. */
export interface Partial {
  readonly program: Program;
  readonly place: Place;
}

/** The block of a partial's call: what `@partial-block` calls. */
export interface PartialBlock extends Partial {
  readonly outer: PartialBlock | undefined;
}

/** Executes a program at its place for a context. */
export const execute = (
  program: Program,
  place: Place,
  run: Run,
  context: unknown,
  data: Data,
  values: readonly unknown[] = [],
): void => {
  const { contexts: around } = place;
  const contexts = around !== undefined && around.context === context ? around : { context, outer: around };
  const params = program.params.length === 0 ? place.params : { names: program.params, values, outer: place.params };
  const scope: Scope = { run, contexts, params, data };

  run.budget.enter();
  const { partials } = run;
  if (program.inlines.size > 0) {
    run.budget.step(partials.size + program.inlines.size);
    run.partials = new Map([
      ...partials,
      ...[...program.inlines].map(([name, inline]) => [name, { program: inline, place }] as const),
    ]);
  }
  for (const statement of program.statements) {
    run.budget.step();
    statement(scope);
  }
  run.partials = partials;
  run.budget.leave();
};

/** Executes the inside of a block where it stands. */
export const executeInside = (
  program: Program | undefined,
  scope: Scope,
  context: unknown,
  data: Data = scope.data,
  values: readonly unknown[] = [],
): void => {
  if (program !== undefined) execute(program, scope, scope.run, context, data, values);
};

/** Adds text to the mail. */
export const write = (run: Run, text: string): void => {
  run.budget.output(text);
  run.out += text;
};
