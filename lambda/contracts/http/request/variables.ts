import type { Variables } from '../../../domain/dispatch/content.ts';
import { REQUEST_LIMITS } from '../../../domain/dispatch/dispatch-request.ts';
import type { RequestRule } from './request-rules.ts';

/** A rule that variables break, and under which name if it is only one of them. */
export interface BrokenRule {
  readonly rule: RequestRule;
  readonly name?: string;
}

/** Copying an object with such a key would set its prototype instead. */
const ruleBrokenByName = (name: string): RequestRule | undefined => {
  if (name === '__proto__') return 'reserved-name';
  return name.isWellFormed() ? undefined : 'malformed-unicode';
};

const ruleBrokenByValue = (value: unknown, levelsLeft: number): RequestRule | undefined => {
  if (typeof value === 'string') return value.isWellFormed() ? undefined : 'malformed-unicode';
  // JSON text such as 1e999 is read as Infinity, which could not be written back.
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'number-range';
  if (typeof value !== 'object' || value === null) return undefined;
  if (levelsLeft === 0) return 'variable-depth';
  for (const [name, inner] of Object.entries(value)) {
    const rule = ruleBrokenByName(name) ?? ruleBrokenByValue(inner, levelsLeft - 1);
    if (rule !== undefined) return rule;
  }
  return undefined;
};

/** Whether parsed JSON can serve as variables; adds the rules it breaks to `broken`. */
const areVariables = (value: unknown, broken: BrokenRule[]): value is Variables => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    broken.push({ rule: 'type' });
    return false;
  }
  for (const [name, inner] of Object.entries(value)) {
    const rule = ruleBrokenByName(name) ?? ruleBrokenByValue(inner, REQUEST_LIMITS.variableDepth);
    if (rule !== undefined) broken.push({ rule, name });
  }
  return broken.length === 0;
};

/** The variables of a request, or the rules they break. Absent and null are the same as none. */
export const parseVariables = (
  value: unknown,
  mostBytes: number,
  tooLarge: RequestRule,
): { readonly ok: true; readonly variables: Variables } | { readonly ok: false; readonly broken: readonly BrokenRule[] } => {
  if (value === undefined || value === null) return { ok: true, variables: {} };
  const broken: BrokenRule[] = [];
  if (!areVariables(value, broken)) return { ok: false, broken };
  // Only after the check of depth: nesting without limit would overflow the stack here.
  if (Buffer.byteLength(JSON.stringify(value)) > mostBytes) return { ok: false, broken: [{ rule: tooLarge }] };
  return { ok: true, variables: value };
};
