import type { CheckContent, CheckResult, RecipientFault } from '../../application/accept-ports.ts';
import type { Addressee, DispatchContent, Variables } from '../../domain/content.ts';
import type { Lookup } from './analyse.ts';
import { compileContent, type CompiledContent, InvalidContent } from './compile-content.ts';
import { RenderFault } from './render-fault.ts';
import { within } from './within.ts';

/** Recipients whose mails are rendered in any case, and whose faults are listed. */
const FIRST = 20;

/** Longer than any honest set of templates takes, shorter than the gateway waits. */
const LONGEST_CHECK_MS = 10_000;

/** Checks every recipient's names against the parsed templates, and renders where names depend on values. */
export const createCheckContent =
  (longestMs = LONGEST_CHECK_MS): CheckContent =>
  (content, recipients) => {
    const checked = within(longestMs, () => check(content, recipients));
    return checked.done ? checked.result : { outcome: 'too-costly' };
  };

const check = (content: DispatchContent, recipients: readonly Addressee[]): CheckResult => {
  const compiled = tryCompile(content);
  if ('outcome' in compiled) return compiled;

  const faults: RecipientFault[] = [];
  let total = 0;
  recipients.forEach(({ applyId, variables }, index) => {
    const found = faultsOf(compiled, variables, content.variables, index < FIRST);
    if (found.length === 0) return;
    total += 1;
    if (total <= FIRST) faults.push(...found.map((fault) => ({ index, applyId, ...fault })));
  });
  return total === 0 ? { outcome: 'fine' } : { outcome: 'cannot-render', faults, total };
};

const tryCompile = (content: DispatchContent): CompiledContent | CheckResult => {
  try {
    return compileContent(content);
  } catch (error) {
    if (error instanceof InvalidContent) return { outcome: 'invalid-template', faults: error.faults };
    throw error;
  }
};

type Fault = Pick<RecipientFault, 'rule' | 'name'>;

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
    return [{ rule: error.rule, ...(error.variable !== undefined && { name: error.variable }) }];
  }
};

const ruleBrokenBy = ({ path, printed, isParent }: Lookup, own: Variables, shared: Variables): Fault['rule'] | undefined => {
  const [root = '', ...below] = path;
  let value: unknown = Object.hasOwn(own, root) ? own : shared;
  for (const name of [root, ...below]) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return 'missing-variable';
    value = propertyOf(value, name);
  }
  if (isParent && value === null) return 'missing-variable';
  return printed && !isText(value) ? 'variable-not-text' : undefined;
};

/** An object, also in a list, would be sent as "[object Object]". */
const isText = (value: unknown): boolean =>
  Array.isArray(value) ? value.every(isText) : typeof value !== 'object' || value === null;

const propertyOf = (value: object, name: string): unknown => Object.getOwnPropertyDescriptor(value, name)?.value;
