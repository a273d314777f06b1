import * as z from 'zod';

/** Decides on one part of an event. */
type Matcher = (value: unknown) => boolean;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const Text = z.string();

const onText =
  (test: (text: string) => boolean): Matcher =>
  (value) =>
    typeof value === 'string' && test(value);

const OPERATORS: Readonly<Record<string, (operand: unknown) => Matcher>> = {
  prefix: (operand) => {
    const prefix = Text.parse(operand);
    return onText((text) => text.startsWith(prefix));
  },
  suffix: (operand) => {
    const suffix = Text.parse(operand);
    return onText((text) => text.endsWith(suffix));
  },
  'equals-ignore-case': (operand) => {
    const wanted = Text.parse(operand).toLowerCase();
    return onText((text) => text.toLowerCase() === wanted);
  },
  'anything-but': (operand) => {
    const refused = isObject(operand)
      ? [operatorMatcher(operand)]
      : z
          .union([z.array(Scalar), Scalar.transform((one) => [one])])
          .parse(operand)
          .map(equals);
    return (value) => value !== undefined && refused.every((matches) => !matches(value));
  },
  exists: (operand) => {
    const wanted = z.boolean().parse(operand);
    // Only leaves exist, as in AWS: an object in that place does not count.
    return (value) => (value !== undefined && !isObject(value)) === wanted;
  },
};

const equals =
  (wanted: unknown): Matcher =>
  (value) =>
    value === wanted;

const operatorMatcher = (test: Record<string, unknown>): Matcher => {
  const [name, ...others] = Object.keys(test);
  const operator = name === undefined || others.length > 0 ? undefined : OPERATORS[name];
  if (name === undefined || operator === undefined) {
    throw new Error(`filter test ${JSON.stringify(test)} is not understood by the local stack`);
  }
  return operator(test[name]);
};

const anyOf = (tests: readonly unknown[]): Matcher => {
  const matchers = tests.map((test) => (isObject(test) ? operatorMatcher(test) : equals(Scalar.parse(test))));
  return (value) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return matchers.some((matches) => values.some(matches));
  };
};

const compilePattern = (pattern: unknown): Matcher => {
  if (Array.isArray(pattern)) return anyOf(pattern);
  if (!isObject(pattern)) throw new Error(`filter pattern ${JSON.stringify(pattern)} is neither an object nor a list`);
  const fields = Object.entries(pattern).map(([name, part]) => [name, compilePattern(part)] as const);
  return (value) => fields.every(([name, matches]) => matches(isObject(value) ? value[name] : undefined));
};

/** Compiles the patterns of an event source mapping; an event passes if any matches, or if there is none. */
export const compileFilters = (patterns: readonly string[]): Matcher => {
  const matchers = patterns.map((pattern) => {
    const parsed: unknown = JSON.parse(pattern);
    return compilePattern(parsed);
  });
  return (event) => matchers.length === 0 || matchers.some((matches) => matches(event));
};
