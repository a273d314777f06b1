import * as z from 'zod';

import { type Fault, FAULTS_LISTED, toPointer } from '../problem.ts';
import { isRequestRule, REQUEST_RULES, type RequestRule } from './request-rules.ts';

const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/** Says that a value breaks a rule. */
export const breaks = (ctx: z.RefinementCtx, rule: RequestRule, path: PropertyKey[] = []): void => {
  ctx.addIssue({ code: 'custom', message: rule, path });
};

/** Text that may reach a header or a key. */
export const headerText = (mostBytes: number, tooLong: RequestRule) =>
  z.string().superRefine((text, ctx) => {
    if (!text.isWellFormed()) breaks(ctx, 'malformed-unicode');
    if (CONTROL.test(text)) breaks(ctx, 'control-characters');
    if (Buffer.byteLength(text) > mostBytes) breaks(ctx, tooLong);
  });

/** Zod's own issues under the names of our rules. */
export const toRule = (issue: { readonly code: string; readonly input?: unknown }): RequestRule => {
  if (issue.code === 'unrecognized_keys') return 'unknown-field';
  return issue.input === undefined ? 'required' : 'type';
};

/** Faults as they are found: the first are kept, all are counted. */
export class FaultList {
  readonly listed: Fault[] = [];
  total = 0;

  add(path: readonly PropertyKey[], rule: string, applyId?: string): void {
    this.total += 1;
    if (this.listed.length === FAULTS_LISTED) return;
    const detail = isRequestRule(rule) ? REQUEST_RULES[rule] : rule;
    this.listed.push({ pointer: toPointer(path), rule, detail, ...(applyId !== undefined && { applyId }) });
  }

  addIssues(issues: readonly z.core.$ZodIssue[], path: readonly PropertyKey[], applyId?: string): void {
    for (const issue of issues) {
      const at = [...path, ...issue.path];
      if (issue.code === 'unrecognized_keys') for (const key of issue.keys) this.add([...at, key], 'unknown-field', applyId);
      else this.add(at, issue.message, applyId);
    }
  }
}
