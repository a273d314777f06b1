import Handlebars from 'handlebars';

import type { TemplateFault } from '../../../application/ports/accept.ts';
import type { DispatchContent } from '../../../domain/dispatch/content.ts';
import { isTooComplex } from '../engine/source-limits.ts';
import { blockParamsOf, isGiven } from '../engine/syntax-tree.ts';

type Form = 'allowed' | 'other' | 'no-template';

/**
 * What is wrong with the templates that come with a request. Anybody who may send writes them, so they may hold names and
 * conditions only: what they cost is bounded by their length.
 */
export const requestFieldFaults = ({ subject, unsubscribeUrl }: DispatchContent): TemplateFault[] =>
  [faultOf('subject-override', subject), faultOf('unsubscribe', unsubscribeUrl)].flat();

const faultOf = (part: TemplateFault['part'], source = ''): TemplateFault[] => {
  if (isTooComplex(source)) return [{ part, rule: 'template-too-complex' }];
  // One that cannot be parsed is refused with the others, by its line.
  return formOf(source) === 'other' ? [{ part, rule: 'names-and-conditions-only' }] : [];
};

const formOf = (source: string): Form => {
  try {
    const checker = new FormChecker();
    checker.accept(Handlebars.parse(source));
    return checker.isOther ? 'other' : 'allowed';
  } catch {
    return 'no-template';
  }
};

/** Looks for anything but text, `{{path}}` and `{{#if path}}…{{else}}…{{/if}}`. */
class FormChecker extends Handlebars.Visitor {
  isOther = false;

  override MustacheStatement({ path, params, hash, escaped }: hbs.AST.MustacheStatement): void {
    if (!escaped || params.length > 0 || isGiven(hash) || !isName(path)) this.isOther = true;
  }

  override BlockStatement({ path, params, hash, program, inverse }: hbs.AST.BlockStatement): void {
    const [condition, ...more] = params;
    const isIf = path.original === 'if' && condition !== undefined && more.length === 0 && !isGiven(hash);
    if (!isIf || !isName(condition) || blockParamsOf(program).length > 0) this.isOther = true;
    this.accept(program);
    this.accept(inverse);
  }

  override PartialStatement(): void {
    this.isOther = true;
  }

  override PartialBlockStatement(): void {
    this.isOther = true;
  }

  override DecoratorBlock(): void {
    this.isOther = true;
  }

  override Decorator(): void {
    this.isOther = true;
  }

  override CommentStatement(): void {
    this.isOther = true;
  }
}

/** The name of a variable and of properties below it. */
const isName = (node: hbs.AST.Node): boolean =>
  'parts' in node &&
  Array.isArray(node.parts) &&
  node.parts.length > 0 &&
  'depth' in node &&
  node.depth === 0 &&
  'data' in node &&
  !node.data;
