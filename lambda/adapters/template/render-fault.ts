import type { RenderRule } from '../../application/accept-ports.ts';

/** Thrown when one recipient's mail cannot be rendered. Its message names rules and variables, never a value. */
export class RenderFault extends Error {
  override readonly name = 'RenderFault';
  readonly rule: RenderRule;
  /** The variable concerned, if one is known. */
  readonly variable: string | undefined;

  constructor(rule: RenderRule, variable?: string) {
    super(variable === undefined ? rule : `${rule}: ${variable}`);
    this.rule = rule;
    this.variable = variable;
  }

  /** The fault as a recipient's stored error code. */
  get code(): string {
    return this.rule.toUpperCase().replaceAll('-', '_');
  }
}
