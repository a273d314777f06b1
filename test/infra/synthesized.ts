import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';

import { readStage } from '../../lib/config/stages.ts';
import { DispatchStack } from '../../lib/stacks/dispatch-stack.ts';
import { WatchStack } from '../../lib/stacks/monitoring-stack.ts';
import { StorageStack } from '../../lib/stacks/storage-stack.ts';

export const ROOT = resolve(import.meta.dirname, '../..');

/** What a stage must be given. */
export const GIVEN = { issuer: 'https://issuer.example.org/', fromAddress: 'Hiring <jobs@mail.example.org>' };

type Flags = Record<string, unknown>;
const flags = (): Flags => (JSON.parse(readFileSync(resolve(ROOT, 'cdk.json'), 'utf8')) as { context: Flags }).context;

// The rules that CDK itself checks at synth take seconds each time; the tests that are about them turn them on.
process.env['CDK_VALIDATION'] = 'false';

const folders: string[] = [];
/** Removes what CDK has written. For `afterAll` of each file that builds apps: this module is loaded once for many of them. */
export const removeFolders = (): void => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
};
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'mail-dispatch-infra-'));
  folders.push(folder);
  return folder;
};

/** An app without a stack. */
export const emptyApp = (): App => new App({ outdir: newFolder() });

/** The app of a stage under the project's own feature flags; bundles only the stacks that are named. */
export const buildApp = (name: string, given: Readonly<Record<string, unknown>> = {}, bundledStacks: string[] = []) => {
  const app = new App({ outdir: newFolder(), context: { ...flags(), 'aws:cdk:bundling-stacks': bundledStacks } });
  const settings: Readonly<Record<string, unknown>> = { ...GIVEN, ...given };
  const stage = readStage(name, (key) => settings[key]);
  const common = { stage, terminationProtection: stage.deletionProtection };
  const storage = new StorageStack(app, 'Storage', common);
  const dispatch = new DispatchStack(app, 'Dispatch', {
    ...common,
    table: storage.table,
    failures: storage.failures,
    lists: storage.lists,
    exports: storage.exports,
  });
  const watch = new WatchStack(app, 'Watch', { stage, table: storage.table, monitored: dispatch.monitored });
  return { app, stage, storage, dispatch, watch };
};

const templatesOf = (name: string, given: Readonly<Record<string, unknown>>) => {
  const { app, storage, dispatch, watch } = buildApp(name, given);
  const templates = {
    storage: Template.fromStack(storage),
    dispatch: Template.fromStack(dispatch),
    watch: Template.fromStack(watch),
  };
  rmSync(app.outdir, { recursive: true, force: true });
  return templates;
};

const known = new Map<string, ReturnType<typeof templatesOf>>();

/** The templates of a stage; made once for many tests, which only read them. */
export const synthesize = (name = 'prod', given: Readonly<Record<string, unknown>> = {}) => {
  const key = JSON.stringify([name, given]);
  const templates = known.get(key) ?? templatesOf(name, given);
  known.set(key, templates);
  return templates;
};

interface Resource {
  readonly Type: string;
  readonly Properties: Record<string, unknown>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

const resourcesOf = (template: Template, type: string): [string, Resource][] =>
  Object.entries(template.findResources(type) as Record<string, Resource>);

/** The one resource of a type whose logical id starts so; construct paths make the ids readable. */
export const one = (template: Template, type: string, prefix: string): Resource & { readonly id: string } => {
  const [found, ...others] = resourcesOf(template, type).filter(([id]) => id.startsWith(prefix));
  if (found === undefined || others.length > 0)
    throw new Error(`${others.length + (found ? 1 : 0)} resources of ${type} start with ${prefix}`);
  return { ...found[1], id: found[0] };
};

/** All resources of a type. */
export const all = (template: Template, type: string): Resource[] => resourcesOf(template, type).map(([, resource]) => resource);

/** Settings of a function. */
export const environmentOf = (template: Template, construct: string): Record<string, unknown> =>
  (
    one(template, 'AWS::Lambda::Function', `${construct}Function`).Properties['Environment'] as {
      Variables: Record<string, unknown>;
    }
  ).Variables;

/** `Stack.LogicalId` behind a reference of any kind, with what is written around it. */
export const plain = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return String(value);
  if ('Ref' in value) return String(value.Ref).replace('AWS::', '');
  if ('Fn::GetAtt' in value) return (value['Fn::GetAtt'] as string[]).join('.');
  if ('Fn::ImportValue' in value) return String(value['Fn::ImportValue']).replace(/^.*:ExportsOutput(Ref|FnGetAtt)/, '');
  if ('Fn::Join' in value) return (value['Fn::Join'] as [string, unknown[]])[1].map(plain).join('');
  throw new Error(`not a reference: ${JSON.stringify(value)}`);
};
