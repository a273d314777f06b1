import type { CheckContent, CheckResult, RecipientFault } from '../../../application/ports/accept.ts';
import type { DispatchContent, RecipientInput, Variables } from '../../../domain/dispatch/content.ts';
import { renderLimits } from '../engine/budget.ts';
import { RenderFault } from '../engine/render-fault.ts';
import { within } from '../engine/run-within.ts';
import { ownProperty, toText } from '../engine/values.ts';
import type { Lookup } from './analyse.ts';
import { compileContent, type CompiledContent, InvalidContent } from './compile-content.ts';
import { requestFieldFaults } from './request-fields.ts';

/** Recipients whose mails are rendered in any case, and whose faults are listed. */
const FIRST = 20;

/** Longer than any honest set of templates takes, shorter than the gateway waits. */
const LONGEST_CHECK_MS = 10_000;

/** A character is at most three bytes in UTF-8, and six in HTML where it is escaped. */
const BYTES_PER_CHARACTER = 6;

/**
 * Checks every recipient's names against the parsed templates, and renders where names, the course or the size depend on
 * values.
 */
export const createCheckContent =
  (maxMailBytes: number, longestMs = LONGEST_CHECK_MS): CheckContent =>
  (content, recipients) => {
    const checked = within(longestMs, () => check(content, recipients, maxMailBytes));
    return checked.done ? checked.result : { outcome: 'too-costly' };
  };

const check = (content: DispatchContent, recipients: readonly RecipientInput[], maxMailBytes: number): CheckResult => {
  const compiled = tryCompile(content, maxMailBytes);
  if ('outcome' in compiled) return compiled;

  const faults: RecipientFault[] = [];
  let total = 0;
  recipients.forEach(({ applyId, variables }, index) => {
    const inAnyCase = index < FIRST || longestOutput(compiled, variables, content.variables) > maxMailBytes;
    const found = faultsOf(compiled, variables, content.variables, inAnyCase);
    if (found.length === 0) return;
    total += 1;
    if (total <= FIRST) faults.push(...found.map((fault) => ({ index, applyId, ...fault })));
  });
  return total === 0 ? { outcome: 'fine' } : { outcome: 'cannot-render', faults, total };
};

const tryCompile = (content: DispatchContent, maxMailBytes: number): CompiledContent | CheckResult => {
  const faults = requestFieldFaults(content);
  if (faults.length > 0) return { outcome: 'invalid-template', faults };
  try {
    return compileContent(content, renderLimits(maxMailBytes));
  } catch (error) {
    if (error instanceof InvalidContent) return { outcome: 'invalid-template', faults: error.faults };
    throw error;
  }
};

/** Of a mail whose course depends on no value, in bytes. */
const longestOutput = ({ staticBytes, lookups }: CompiledContent, own: Variables, shared: Variables): number => {
  let characters = 0;
  for (const { path, printed } of lookups) {
    if (!printed) continue;
    const [root = '', ...below] = path;
    let value = ownProperty(Object.hasOwn(own, root) ? own : shared, root);
    for (const name of below) value = ownProperty(value, name);
    characters += toText(value).length;
  }
  return staticBytes + BYTES_PER_CHARACTER * characters;
};

type Fault = Pick<RecipientFault, 'rule' | 'name' | 'limit'>;

const faultsOf = (compiled: CompiledContent, own: Variables, shared: Variables, inAnyCase: boolean): Fault[] => {
  const faults = new Map<string, Fault>();
  let undecided = inAnyCase || compiled.dependsOnValues;
  for (const lookup of compiled.lookups) {
    const rule = ruleBrokenBy(lookup, own, shared);
    if (rule === undefined) continue;
    // Behind a condition it may not be needed: rendering tells.
    if (lookup.conditional) undecided = true;
    else faults.set(lookup.path.join('.'), { rule, name: lookup.path.join('.') });
  }
  if (faults.size > 0) return [...faults.values()];

  const values = compiled.valuesFor(own);
  try {
    if (undecided) compiled.mail(values);
    else compiled.headers(values);
    return [];
  } catch (error) {
    if (!(error instanceof RenderFault)) throw error;
    const { rule, variable, limit } = error;
    return [{ rule, ...(variable !== undefined && { name: variable }), ...(limit !== undefined && { limit }) }];
  }
};

const ruleBrokenBy = ({ path, printed, isParent }: Lookup, own: Variables, shared: Variables): Fault['rule'] | undefined => {
  const [root = '', ...below] = path;
  let value: unknown = Object.hasOwn(own, root) ? own : shared;
  for (const name of [root, ...below]) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return 'missing-variable';
    value = ownProperty(value, name);
  }
  if (isParent && value === null) return 'missing-variable';
  return printed && !isText(value) ? 'variable-not-text' : undefined;
};

/** An object, also in a list, would be sent as "[object Object]". */
const isText = (value: unknown): boolean =>
  Array.isArray(value) ? value.every(isText) : typeof value !== 'object' || value === null;
