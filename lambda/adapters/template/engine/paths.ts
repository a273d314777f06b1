import { RenderFault } from './render-fault.ts';
import type { Expression, Scope } from './scope.ts';
import { ownProperty } from './values.ts';

/** A name in a template, with what it is looked up in. */
export interface Path {
  readonly parts: readonly string[];
  /** How many `../` are before it. */
  readonly depth: number;
  /** It begins with `@`. */
  readonly data: boolean;
  /** It begins with `this` or a dot, so it names no parameter of a block. */
  readonly scoped: boolean;
}

/** Looks up what is printed or opens a section: it must be there. */
export const requiredValue =
  ({ parts, ...path }: Path): Expression =>
  (scope) => {
    const [first] = parts;
    if (first === undefined) return startOf(path, scope);
    const parameter = parameterOf({ parts, ...path }, scope);
    if (parameter !== undefined) return follow(parameter.value, parts.slice(1), scope);
    const above = follow(startOf(path, scope), parts.slice(0, -1), scope);
    return terminal(above, parts.at(-1) ?? first);
  };

/** Looks up a parameter of a helper: it may be missing, but not what it is a property of. */
export const optionalValue =
  (path: Path): Expression =>
  (scope) => {
    const parameter = parameterOf(path, scope);
    return parameter === undefined
      ? follow(startOf(path, scope), path.parts, scope)
      : follow(parameter.value, path.parts.slice(1), scope);
  };

const startOf = ({ depth, data }: Omit<Path, 'parts'>, scope: Scope): unknown => {
  if (data) {
    let frame: Scope['data'] | undefined = scope.data;
    for (let left = depth; left > 0 && frame !== undefined; left -= 1) frame = frame.outer;
    return frame?.values;
  }
  let contexts: Scope['contexts'] | undefined = scope.contexts;
  for (let left = depth; left > 0 && contexts !== undefined; left -= 1) contexts = contexts.outer;
  return contexts?.context;
};

/** The value of a block's parameter of that name. */
const parameterOf = ({ parts, depth, data, scoped }: Path, { params }: Scope): { readonly value: unknown } | undefined => {
  const [name] = parts;
  if (name === undefined || depth > 0 || data || scoped) return undefined;
  for (let each = params; each !== undefined; each = each.outer) {
    const place = each.names.indexOf(name);
    if (place >= 0) return { value: each.values[place] };
  }
  return undefined;
};

const follow = (start: unknown, parts: readonly string[], { run }: Scope): unknown => {
  run.budget.step(parts.length);
  let value = start;
  for (const part of parts) {
    if (value === undefined || value === null) throw new RenderFault('rendering-failed');
    value = ownProperty(value, part);
  }
  return value;
};

const terminal = (value: unknown, name: string): unknown => {
  if (!value) throw new RenderFault('missing-variable', { variable: name });
  if (typeof value !== 'object') throw new RenderFault('rendering-failed');
  if (!Object.hasOwn(value, name)) throw new RenderFault('missing-variable', { variable: name });
  return ownProperty(value, name);
};
