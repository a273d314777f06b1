import * as z from 'zod';

/** What the intrinsic functions of a template refer to. */
export interface References {
  /** Value of `Ref`: a resource, a parameter or a pseudo parameter. */
  readonly ref: (name: string) => unknown;
  readonly attribute: (resource: string, attribute: string) => unknown;
  readonly importValue: (name: string) => unknown;
}

const Text = z.string();
const Parts = z.array(z.union([z.string(), z.number(), z.boolean()]).transform(String));
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Intrinsic = (argument: unknown, references: References) => unknown;

const splitAttribute = (argument: unknown): [string, string] => {
  if (typeof argument !== 'string') return z.tuple([Text, Text]).parse(argument);
  const dot = argument.indexOf('.');
  return [argument.slice(0, dot), argument.slice(dot + 1)];
};

const substitute: Intrinsic = (argument, references) => {
  const [text, variables] =
    typeof argument === 'string' ? [argument, {}] : z.tuple([Text, z.record(z.string(), z.unknown())]).parse(argument);
  return text.replaceAll(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
    if (literal === '!') return `\${${name}}`;
    if (name in variables) return Text.parse(resolveValue(variables[name], references));
    const value = name.includes('.') ? references.attribute(...splitAttribute(name)) : references.ref(name);
    return Text.parse(value);
  });
};

const INTRINSICS: Readonly<Record<string, Intrinsic>> = {
  Ref: (argument, references) => references.ref(Text.parse(argument)),
  'Fn::GetAtt': (argument, references) => references.attribute(...splitAttribute(argument)),
  'Fn::ImportValue': (argument, references) => references.importValue(Text.parse(resolveValue(argument, references))),
  'Fn::Join': (argument, references) => {
    const [separator, parts] = z.tuple([Text, z.unknown()]).parse(argument);
    return Parts.parse(resolveValue(parts, references)).join(separator);
  },
  'Fn::Split': (argument, references) => {
    const [separator, text] = z.tuple([Text, z.unknown()]).parse(argument);
    return Text.parse(resolveValue(text, references)).split(separator);
  },
  'Fn::Select': (argument, references) => {
    const [index, list] = z.tuple([z.coerce.number().int(), z.unknown()]).parse(argument);
    const values = z.array(z.unknown()).parse(resolveValue(list, references));
    if (!(index in values)) throw new Error(`Fn::Select: there is no element ${index}`);
    return values[index];
  },
  'Fn::Sub': substitute,
};

/** A property's value with every intrinsic function carried out; an unknown one is an error. */
export const resolveValue = (value: unknown, references: References): unknown => {
  if (Array.isArray(value)) return value.map((element) => resolveValue(element, references));
  if (!isObject(value)) return value;
  const [key, ...others] = Object.keys(value);
  if (key !== undefined && others.length === 0 && (key === 'Ref' || key.startsWith('Fn::'))) {
    const intrinsic = INTRINSICS[key];
    if (intrinsic === undefined) throw new Error(`${key} is not understood by the local stack`);
    return intrinsic(value[key], references);
  }
  return Object.fromEntries(Object.entries(value).map(([name, element]) => [name, resolveValue(element, references)]));
};
