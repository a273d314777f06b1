import type { RenderRule } from '../../../application/ports/accept.ts';

interface FaultDetail {
  /** The variable concerned, if one is known. */
  readonly variable?: string;
  /** The limit that was exceeded, if the rule has one. */
  readonly limit?: number;
}

/** Thrown when one recipient's mail cannot be rendered. Its message names rules and variables, never a value. */
export class RenderFault extends Error {
  override readonly name = 'RenderFault';
  readonly rule: RenderRule;
  readonly variable: string | undefined;
  readonly limit: number | undefined;

  constructor(rule: RenderRule, { variable, limit }: FaultDetail = {}) {
    super(variable === undefined ? rule : `${rule}: ${variable}`);
    this.rule = rule;
    this.variable = variable;
    this.limit = limit;
  }

  /** The fault as a recipient's stored error code. */
  get code(): string {
    return this.rule.toUpperCase().replaceAll('-', '_');
  }
}
