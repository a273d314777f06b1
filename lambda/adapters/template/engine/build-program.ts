import Handlebars from 'handlebars';

import { eachBlock, ifBlock, type Insides, lookup, section, withBlock } from './blocks.ts';
import { partialCall } from './partials.ts';
import { optionalValue, type Path, requiredValue } from './paths.ts';
import { RenderFault } from './render-fault.ts';
import { type Expression, type Program, type Statement, write } from './scope.ts';
import { blockParamsOf, isGiven, pairsOf } from './syntax-tree.ts';
import { toText } from './values.ts';

type Node = hbs.AST.Node;
type Params = readonly hbs.AST.Expression[];

/** Names that Handlebars takes for its helpers, not for variables, where no parameter of a block has them. */
const HELPERS: ReadonlySet<string> = new Set(['if', 'unless', 'each', 'with', 'lookup', 'helperMissing', 'blockHelperMissing']);

const constant =
  (value: unknown): Expression =>
  () =>
    value;

const fails = (): never => {
  throw new RenderFault('rendering-failed');
};

/**
 * Turns a parsed template into statements of our own, so that everything they do is counted while they do it, and a
 * template is never code.
 */
class Builder extends Handlebars.Visitor {
  #statements: Statement[] = [];
  #inlines = new Map<string, Program>();
  #made: Expression = fails;

  build(program: hbs.AST.Program): Program {
    const outer = [this.#statements, this.#inlines] as const;
    const statements: Statement[] = [];
    const inlines = new Map<string, Program>();
    this.#statements = statements;
    this.#inlines = inlines;
    for (const statement of program.body) this.accept(statement);
    [this.#statements, this.#inlines] = outer;
    return { statements, inlines, params: blockParamsOf(program) };
  }

  override ContentStatement({ value }: hbs.AST.ContentStatement): void {
    if (value === '') return;
    this.#add(({ run }) => {
      write(run, value);
    });
  }

  override MustacheStatement({ path, params, hash, escaped }: hbs.AST.MustacheStatement): void {
    const value = this.#valueOf(path, params, hash);
    this.#add((scope) => {
      const text = toText(value(scope));
      write(scope.run, escaped ? scope.run.escape(text) : text);
    });
  }

  override BlockStatement({ path, params, hash, program, inverse }: hbs.AST.BlockStatement): void {
    const insides = { program: this.#maybe(program), inverse: this.#maybe(inverse) };
    const isHelper = params.length > 0 || isGiven(hash);
    this.#add(isHelper ? this.#helperBlock(path.original, params, hash, insides) : section(this.#required(path), insides));
  }

  override PartialStatement(partial: hbs.AST.PartialStatement): void {
    this.#partial(partial, undefined, partial.indent);
  }

  override PartialBlockStatement(partial: hbs.AST.PartialBlockStatement): void {
    this.#partial(partial, this.build(partial.program), '');
  }

  override DecoratorBlock({ params, program }: hbs.AST.DecoratorBlock): void {
    const [name] = params;
    const inline = this.build(program);
    if (name !== undefined && 'value' in name) this.#inlines.set(String(name.value), inline);
    else this.#add(fails);
  }

  override SubExpression({ params }: hbs.AST.SubExpression): void {
    // Others were refused: there is no other helper that gives a value.
    this.#made = lookup(params.map((param) => this.#expression(param)));
  }

  override PathExpression(path: hbs.AST.PathExpression): void {
    this.#made = optionalValue(toPath(path));
  }

  override StringLiteral({ value }: hbs.AST.StringLiteral): void {
    this.#made = constant(value);
  }

  override NumberLiteral({ value }: hbs.AST.NumberLiteral): void {
    this.#made = constant(value);
  }

  override BooleanLiteral({ value }: hbs.AST.BooleanLiteral): void {
    this.#made = constant(value);
  }

  override UndefinedLiteral(): void {
    this.#made = constant(undefined);
  }

  override NullLiteral(): void {
    this.#made = constant(null);
  }

  #add(statement: Statement): void {
    this.#statements.push(statement);
  }

  #maybe(program: hbs.AST.Program | undefined): Program | undefined {
    return program && this.build(program);
  }

  #expression(node: Node): Expression {
    this.accept(node);
    return this.#made;
  }

  #valueOf(path: hbs.AST.PathExpression | hbs.AST.Literal, params: Params, hash: hbs.AST.Hash | undefined): Expression {
    if (params.length === 0 && hash === undefined) return this.#required(path);
    return lookup(params.map((param) => this.#expression(param)));
  }

  /** A literal where a name is wanted is one: `{{"first name"}}`. */
  #required(path: hbs.AST.PathExpression | hbs.AST.Literal): Expression {
    if ('parts' in path) {
      const { parts, data, depth, scoped } = toPath(path);
      const value = requiredValue({ parts, data, depth, scoped });
      const [name = ''] = parts;
      const mayBeHelper = parts.length === 1 && !data && depth === 0 && !scoped && HELPERS.has(name);
      if (!mayBeHelper) return value;
      return (scope) => {
        for (let each = scope.params; each !== undefined; each = each.outer) if (each.names.includes(name)) return value(scope);
        return fails();
      };
    }
    const name = 'original' in path ? String(path.original) : '';
    return requiredValue({ parts: [name], data: false, depth: 0, scoped: true });
  }

  #helperBlock(helper: string, params: Params, hash: hbs.AST.Hash | undefined, insides: Insides): Statement {
    const [param, ...more] = params.map((each) => this.#expression(each));
    if (param === undefined || more.length > 0) return fails;
    const zero = hash?.pairs.findLast(({ key }) => key === 'includeZero');
    const includeZero = zero && this.#expression(zero.value);
    switch (helper) {
      case 'if':
        return ifBlock(param, includeZero, insides);
      case 'unless':
        return ifBlock(param, includeZero, { program: insides.inverse, inverse: insides.program });
      case 'each':
        return eachBlock(param, insides);
      case 'with':
        return withBlock(param, insides);
      default:
        return fails;
    }
  }

  #partial(
    { name, params, hash }: hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement,
    block: Program | undefined,
    indent: string,
  ): void {
    const [context, other] = params;
    if (other !== undefined) throw new Error(`a partial has one context - ${other.loc.start.line}:${other.loc.start.column}`);
    const pairs = pairsOf(hash)?.map(({ key, value }) => [key, this.#expression(value)] as const);
    this.#add(
      partialCall({
        name: name.type === 'SubExpression' ? this.#expression(name) : constant(name.original),
        isBlockCall: name.type === 'PathExpression' && name.original === '@partial-block',
        context: context === undefined ? ({ contexts }) => contexts.context : this.#expression(context),
        hash: pairs && new Map(pairs),
        block,
        indent,
      }),
    );
  }
}

const toPath = ({ parts, depth, data, original }: hbs.AST.PathExpression): Path => ({
  parts,
  depth,
  data,
  scoped: /^\.|this\b/.test(original),
});

/** Makes a program of a parsed template in which {@link analyse} found no unknown helper. */
export const buildProgram = (program: hbs.AST.Program): Program => new Builder().build(program);
