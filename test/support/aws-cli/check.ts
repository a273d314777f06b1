import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import * as z from 'zod';

const Models = z.object({
  source: z.string(),
  services: z.record(z.string(), z.record(z.string(), z.string())),
});

/** Operations of AWS and their parameters, as the AWS CLI has them. */
export const MODELS = Models.parse(JSON.parse(readFileSync(join(import.meta.dirname, 'operations.json'), 'utf8')));

interface Parameter {
  readonly isRequired: boolean;
  readonly isFlag: boolean;
  /** Of a structure. */
  readonly members?: readonly string[];
}

/** Options that every command has. */
const GLOBAL_OPTIONS = new Set(['query', 'output', 'region', 'profile', 'cli-input-json', 'no-cli-pager', 'no-paginate']);
const PAGING_OPTIONS = new Set(['max-items', 'page-size', 'starting-token']);

/** Parameters of an operation by their names; undefined: there is no such operation. */
export const parametersOf = (service: string, operation: string): ReadonlyMap<string, Parameter> | undefined => {
  const text = MODELS.services[service]?.[operation];
  if (text === undefined) return undefined;
  const each = text.split(' ').filter((word) => word !== '');
  return new Map(
    each.map((word) => {
      const [, name = '', members, flag, star] = /^([a-z0-9-]+)(?:\(([^)]*)\))?(!?)(\*?)$/i.exec(word) ?? [];
      return [
        name,
        { isRequired: star === '*', isFlag: flag === '!', ...(members !== undefined && { members: members.split(',') }) },
      ] as const;
    }),
  );
};

/** An option with the values after it. */
interface Option {
  readonly name: string;
  readonly values: readonly string[];
}

const optionsOf = (words: readonly string[]): { readonly options: readonly Option[]; readonly others: readonly string[] } => {
  const options: { name: string; values: string[] }[] = [];
  const others: string[] = [];
  for (const word of words) {
    const last = options.at(-1);
    if (word.startsWith('--')) options.push({ name: word.slice(2), values: [] });
    else if (last === undefined) others.push(word);
    else last.values.push(word);
  }
  return { options, others };
};

const faultsOfOption = ({ name, values }: Option, known: ReadonlyMap<string, Parameter>): string[] => {
  if (GLOBAL_OPTIONS.has(name) || PAGING_OPTIONS.has(name)) return [];
  const negated = name.startsWith('no-') ? known.get(name.slice(3)) : undefined;
  const parameter = known.get(name) ?? (negated?.isFlag === true ? negated : undefined);
  if (parameter === undefined) return [`has no parameter --${name}`];
  if (parameter.isFlag) return values.length > 0 ? [`--${name} takes no value`] : [];
  if (values.length === 0) return [`--${name} has no value`];
  const { members } = parameter;
  const [value = ''] = values;
  if (members === undefined || !/^\w+=/.test(value)) return [];
  const keys = value.split(',').map((part) => part.split('=')[0] ?? '');
  return keys.filter((key) => !members.includes(key)).map((key) => `--${name} has no member ${key}`);
};

/** Commands of the CLI's own over several operations, with their options. */
const HIGH_LEVEL: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  s3: { ls: ['recursive'], cp: ['recursive', 'dryrun'], rm: ['recursive', 'dryrun'], sync: ['delete', 'dryrun'], rb: ['force'] },
  logs: { tail: ['follow', 'since', 'format', 'filter-pattern'] },
};

/** What the AWS CLI would not accept of a command; nothing is sent anywhere. @param words begin with `aws` */
export const faultsOfAws = (words: readonly string[], isMention = false): string[] => {
  const [, service = '', first = '', second = ''] = words;
  const operation = first === 'wait' ? `wait ${second}` : first;
  const own = HIGH_LEVEL[service]?.[operation];
  if (own !== undefined) {
    const unknown = optionsOf(words.slice(3)).options.filter(({ name }) => !own.includes(name) && !GLOBAL_OPTIONS.has(name));
    return unknown.map(({ name }) => `has no parameter --${name}`);
  }
  if (MODELS.services[service] === undefined) return [`there is no service ${service} in operations.json`];
  const known = parametersOf(service, operation);
  if (known === undefined) return [`${service} has no operation ${operation}`];
  const rest = words.slice(first === 'wait' ? 4 : 3);
  // A sentence that only names the operation.
  if (isMention && rest.length === 0) return [];
  const { options, others } = optionsOf(rest);
  const given = new Set(options.map(({ name }) => (known.has(name) ? name : name.replace(/^no-/, ''))));
  const missing = given.has('cli-input-json')
    ? []
    : [...known].filter(([name, { isRequired }]) => isRequired && !given.has(name)).map(([name]) => `--${name} is missing`);
  return [
    ...others.map((word) => `${word} belongs to no parameter`),
    ...options.flatMap((option) => faultsOfOption(option, known)),
    ...missing,
  ];
};

const Cdk = z.object({
  globalOptions: z.record(z.string(), z.unknown()),
  commands: z.record(z.string(), z.object({ options: z.record(z.string(), z.object({ type: z.string() })).default({}) })),
});

/** What the installed CDK CLI would not accept of a command. @param words begin with `npx cdk` */
export const faultsOfCdk = (words: readonly string[], registry: unknown): string[] => {
  const { globalOptions, commands } = Cdk.parse(registry);
  const [, , name = ''] = words;
  const command = commands[name];
  if (command === undefined) return [`cdk has no command ${name}`];
  return words
    .slice(3)
    .filter((word) => word.startsWith('--'))
    .map((word) => word.slice(2).split('=')[0] ?? '')
    .filter((option) => !(option in command.options) && !(option in globalOptions))
    .map((option) => `cdk ${name} has no option --${option}`);
};
