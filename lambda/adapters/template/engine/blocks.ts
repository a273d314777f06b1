import { RenderFault } from './render-fault.ts';
import { type Data, executeInside, type Expression, type Program, type Scope, type Statement } from './scope.ts';
import { entriesOf, isEmpty, ownProperty } from './values.ts';

/** The two insides of a block. */
export interface Insides {
  readonly program: Program | undefined;
  readonly inverse: Program | undefined;
}

/** `{{#if a}}…{{else}}…{{/if}}`. With `includeZero` 0 is something. */
export const ifBlock =
  (condition: Expression, includeZero: Expression | undefined, { program, inverse }: Insides): Statement =>
  (scope) => {
    const value = condition(scope);
    const isMet = !isEmpty(value) && (value !== 0 || Boolean(includeZero?.(scope)));
    executeInside(isMet ? program : inverse, scope, contextOf(scope));
  };

/** `{{#each a}}…{{else}}…{{/each}}`. */
export const eachBlock =
  (list: Expression, insides: Insides): Statement =>
  (scope) => {
    loop(list(scope), insides, scope);
  };

/** `{{#with a}}…{{else}}…{{/with}}`. */
export const withBlock =
  (object: Expression, { program, inverse }: Insides): Statement =>
  (scope) => {
    const value = object(scope);
    if (isEmpty(value)) executeInside(inverse, scope, contextOf(scope));
    else executeInside(program, scope, value, scope.data, [value]);
  };

/** `{{#name}}…{{/name}}`: once for an object, for each item of a list, or under the condition that it is true. */
export const section =
  (named: Expression, insides: Insides): Statement =>
  (scope) => {
    const value = named(scope);
    const { program, inverse } = insides;
    if (value === true) executeInside(program, scope, scope.contexts.context);
    else if (value === false || value === undefined || value === null) executeInside(inverse, scope, scope.contexts.context);
    else if (Array.isArray(value)) loop(value, insides, scope);
    else executeInside(program, scope, value);
  };

/** `(lookup object name)`. */
export const lookup =
  (params: readonly Expression[]): Expression =>
  (scope) => {
    const [object, name] = params.map((param) => param(scope));
    if (!object) return object;
    if (params.length !== 2) throw new RenderFault('rendering-failed');
    // An object or list names nothing, and to write it out for each lookup would be work that nobody counts.
    if (typeof name === 'object' && name !== null) return undefined;
    return ownProperty(object, String(name));
  };

const loop = (list: unknown, { program, inverse }: Insides, scope: Scope): void => {
  const entries = entriesOf(list);
  entries.forEach(([key, value], index) => {
    scope.run.budget.step();
    const place = { key, index, first: index === 0, last: index === entries.length - 1 };
    const data: Data = { ...scope.data, values: { ...scope.data.values, ...place }, outer: scope.data };
    executeInside(program, scope, value, data, [value, key]);
  });
  if (entries.length === 0) executeInside(inverse, scope, contextOf(scope));
};

const NOTHING = Object.freeze({});

/** Inside of a condition there is always a context to look names up in. */
const contextOf = ({ contexts: { context } }: Scope): unknown => context ?? NOTHING;
