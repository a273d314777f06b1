import { RenderFault } from './render-fault.ts';
import {
  type Data,
  execute,
  type Expression,
  type Partial,
  type Program,
  type Run,
  type Scope,
  type Statement,
} from './scope.ts';
import { sizeOf, toText, withProperties } from './values.ts';

/** A call of an inline partial. */
export interface PartialCall {
  /** Evaluates to the partial's name. */
  readonly name: Expression;
  /** `{{> @partial-block}}`. */
  readonly isBlockCall: boolean;
  readonly context: Expression;
  readonly hash: ReadonlyMap<string, Expression> | undefined;
  /** What stands between a partial's opening and closing tag. */
  readonly block: Program | undefined;
  readonly indent: string;
}

/** `{{> name}}` and `{{#> name}}…{{/name}}`. */
export const partialCall =
  (call: PartialCall): Statement =>
  (scope) => {
    const context = contextFor(call, scope);
    const { block } = call;
    const outer = scope.data.partialBlock;
    const own = block && { program: block, place: scope, outer };
    const data: Data = own === undefined ? scope.data : { ...scope.data, outer: scope.data, partialBlock: own };
    const found = find(call, scope);

    indented(scope.run, call.indent, () => {
      if (found !== undefined) execute(found.program, found.place, scope.run, context, found.data ?? data);
      else if (own !== undefined) execute(own.program, own.place, scope.run, context, insideBlock(data, outer));
      else throw new RenderFault('rendering-failed');
    });
  };

/** Inside of a partial's block the block around it is the one to be called. */
const insideBlock = (data: Data, partialBlock: Data['partialBlock']): Data => ({ ...data, outer: data, partialBlock });

const find = (call: PartialCall, scope: Scope): (Partial & { readonly data?: Data }) | undefined => {
  const { run, data } = scope;
  if (call.isBlockCall && data.partialBlock !== undefined)
    return { ...data.partialBlock, data: insideBlock(data, data.partialBlock.outer) };
  return run.partials.get(toText(call.name(scope)));
};

const contextFor = ({ context, hash }: PartialCall, scope: Scope): unknown => {
  const given = context(scope);
  if (hash === undefined) return given;
  scope.run.budget.step(sizeOf(given) + hash.size);
  return withProperties(given, Object.fromEntries([...hash].map(([name, value]) => [name, value(scope)])));
};

/** Puts the spaces before a partial that stands alone before each line of it. */
const indented = (run: Run, indent: string, work: () => void): void => {
  if (indent === '') {
    work();
    return;
  }
  const before = run.out;
  run.out = '';
  work();
  const lines = run.out.split('\n');
  const last = lines.length - 1;
  run.out = before;
  lines.forEach((line, i) => {
    if (i === last && line === '') return;
    run.budget.output(indent);
    run.out += indent + line + (i === last ? '' : '\n');
  });
};
