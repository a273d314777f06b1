import Handlebars from 'handlebars';

import { isGiven } from '../engine/syntax-tree.ts';

/** A place where a template looks a variable up. */
export interface Lookup {
  /** The variable's name and the properties below it. */
  readonly path: readonly string[];
  /** Its value goes into the mail; otherwise it only opens a block. */
  readonly printed: boolean;
  /** A property of it is asked for, which null does not have. */
  readonly isParent: boolean;
  /** Reached by some values and not by others. */
  readonly conditional: boolean;
}

/** What a template needs. */
export interface Analysis {
  readonly lookups: readonly Lookup[];
  /** Names are looked up in values, so that only rendering tells whether all are there. */
  readonly dependsOnValues: boolean;
  /** Names that the template may look up in the variables themselves; undefined: it may want any. */
  readonly names: ReadonlySet<string> | undefined;
  /** Helpers that do not exist here. */
  readonly unknownHelpers: readonly string[];
  /** Of the text outside of braces, in UTF-8. */
  readonly staticBytes: number;
}

const BRANCHES: ReadonlySet<string> = new Set(['if', 'unless']);
const SCOPES: ReadonlySet<string> = new Set(['each', 'with']);
const LOOKUP = 'lookup';
const INLINE = 'inline';

type Path = hbs.AST.PathExpression;

/** Walks a parsed template. The walk mirrors strict mode: parameters of helpers may be missing, printed names may not. */
class Analyser extends Handlebars.Visitor {
  readonly lookups: Lookup[] = [];
  readonly names = new Set<string>();
  readonly unknownHelpers: string[] = [];
  dependsOnValues = false;
  staticBytes = 0;
  wantsAll = false;
  /** How many blocks we are in that may be left out. */
  private branches = 0;
  /** How many blocks we are in whose names are those of a value. */
  private scopes = 0;

  override ContentStatement({ value }: hbs.AST.ContentStatement): void {
    this.staticBytes += Buffer.byteLength(value);
  }

  override MustacheStatement(mustache: hbs.AST.MustacheStatement): void {
    this.expression(mustache.path, mustache.params, mustache.hash, true);
  }

  override SubExpression({ path, params, hash }: hbs.AST.SubExpression): void {
    if (path.original !== LOOKUP) this.unknownHelpers.push(path.original);
    this.parameters(params, hash);
  }

  override BlockStatement(block: hbs.AST.BlockStatement): void {
    const helper = block.path.original;
    if (BRANCHES.has(helper)) {
      this.parameters(block.params, block.hash);
      this.branch(block.program);
      this.branch(block.inverse);
    } else if (SCOPES.has(helper)) {
      this.parameters(block.params, block.hash);
      this.scope(block.program);
      this.branch(block.inverse);
    } else {
      if (block.params.length > 0 || isGiven(block.hash)) this.unknownHelpers.push(helper);
      this.required(block.path, false);
      this.scope(block.program);
      this.branch(block.inverse);
    }
  }

  override PartialStatement(partial: hbs.AST.PartialStatement): void {
    this.outside([]);
    this.parameters(partial.params, partial.hash);
    if (partial.name.type !== 'PathExpression') this.accept(partial.name);
  }

  override PartialBlockStatement(partial: hbs.AST.PartialBlockStatement): void {
    this.outside([]);
    this.parameters(partial.params, partial.hash);
    this.scope(partial.program);
  }

  override DecoratorBlock(decorator: hbs.AST.DecoratorBlock): void {
    if (decorator.path.original !== INLINE) this.unknownHelpers.push(decorator.path.original);
    this.scope(decorator.program);
  }

  override Decorator(decorator: hbs.AST.Decorator): void {
    this.unknownHelpers.push('parts' in decorator.path ? decorator.path.original : 'decorator');
  }

  /** A parameter of a helper: allowed to be missing, unless it is a property of something. */
  override PathExpression(path: Path): void {
    this.note(path, false, true);
  }

  private expression(
    path: Path | hbs.AST.Literal,
    params: hbs.AST.Expression[],
    hash: hbs.AST.Hash | undefined,
    printed: boolean,
  ): void {
    if (!('parts' in path)) return;
    if (params.length === 0 && hash === undefined) {
      this.required(path, printed);
      return;
    }
    if (path.original !== LOOKUP) this.unknownHelpers.push(path.original);
    this.parameters(params, hash);
  }

  private required(path: Path, printed: boolean): void {
    this.note(path, printed, false);
  }

  private note(place: Path, printed: boolean, mayBeMissing: boolean): void {
    const { parts, depth, data } = place;
    const [root] = parts;
    if (data) {
      if (root === 'root') this.outside(parts.slice(1));
      else if (this.scopes === 0) this.dependsOnValues = true;
      return;
    }
    if (depth > 0) this.outside(parts);
    else if (this.scopes > 0) this.inScope(place);
    else if (root === undefined) this.outside([]);
    else {
      this.names.add(root);
      const path = mayBeMissing ? parts.slice(0, -1) : parts;
      const conditional = this.branches > 0;
      if (path.length > 0) this.lookups.push({ path, printed: printed && !mayBeMissing, isParent: mayBeMissing, conditional });
    }
  }

  /** The name of an item or of a block's parameter; it may as well be one of ours, in an inline partial. */
  private inScope({ parts }: Path): void {
    const [root] = parts;
    if (root === undefined) return;
    this.names.add(root);
    this.dependsOnValues = true;
  }

  /** A way up and out of the block, or the variables as a whole. */
  private outside(parts: readonly string[]): void {
    const [root] = parts;
    if (root === undefined) this.wantsAll = true;
    else this.names.add(root);
    this.dependsOnValues = true;
  }

  private parameters(params: hbs.AST.Expression[], hash: hbs.AST.Hash | undefined): void {
    for (const param of params) this.accept(param);
    for (const pair of hash?.pairs ?? []) this.accept(pair.value);
  }

  private branch(program: hbs.AST.Program | undefined): void {
    if (program === undefined) return;
    this.branches += 1;
    this.accept(program);
    this.branches -= 1;
  }

  private scope(program: hbs.AST.Program | undefined): void {
    if (program === undefined) return;
    // How often it is executed depends on a value.
    this.dependsOnValues = true;
    this.scopes += 1;
    this.accept(program);
    this.scopes -= 1;
  }
}

/** Finds out what a parsed template needs, without rendering it. */
export const analyse = (program: hbs.AST.Program): Analysis => {
  const analyser = new Analyser();
  analyser.accept(program);
  const { lookups, dependsOnValues, names, wantsAll, unknownHelpers, staticBytes } = analyser;
  return { lookups, dependsOnValues, names: wantsAll ? undefined : names, unknownHelpers, staticBytes };
};
