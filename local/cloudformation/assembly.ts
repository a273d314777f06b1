import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import * as z from 'zod';

const Manifest = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      properties: z
        .object({ templateFile: z.string().optional(), file: z.string().optional(), stackName: z.string().optional() })
        .optional(),
    }),
  ),
});

const AssetManifest = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.object({ path: z.string() }),
      destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
    }),
  ),
});

const RawResource = z.strictObject({
  Type: z.string(),
  Properties: z.record(z.string(), z.unknown()).default({}),
  DependsOn: z.unknown().optional(),
  Metadata: z.record(z.string(), z.unknown()).default({}),
  DeletionPolicy: z.unknown().optional(),
  UpdateReplacePolicy: z.unknown().optional(),
});

const Template = z.strictObject({
  Resources: z.record(z.string(), RawResource),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown(), Export: z.object({ Name: z.unknown() }).optional() })).default({}),
  Parameters: z.record(z.string(), z.object({ Default: z.unknown() })).default({}),
  // Rules of CDK's bootstrap and texts for people: nothing to run.
  Rules: z.unknown().optional(),
  Description: z.unknown().optional(),
  Metadata: z.unknown().optional(),
  AWSTemplateFormatVersion: z.unknown().optional(),
});

/** One resource of a template, its properties as they are written there. */
export interface TemplateResource {
  readonly stack: string;
  readonly logicalId: string;
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
  /** The construct's path if the template has it, else the logical id: what a person knows it by. */
  readonly path: string;
}

/** One stack of the assembly. */
export interface AssemblyStack {
  readonly name: string;
  readonly resources: readonly TemplateResource[];
  readonly outputs: Readonly<Record<string, { readonly value: unknown; readonly exportName?: unknown }>>;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What the CDK app said: its stacks, and where the code of the functions lies. */
export interface Assembly {
  readonly stacks: readonly AssemblyStack[];
  /** Folder of an asset by its key in the assets bucket. */
  readonly assets: ReadonlyMap<string, string>;
}

const readJson = <T>(schema: z.ZodType<T>, file: string): T => {
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const result = schema.safeParse(content);
  if (result.success) return result.data;
  throw new Error(`${file} is not understood by the local stack:\n${z.prettifyError(result.error)}`);
};

const readStack = (file: string, name: string): AssemblyStack => {
  const template = readJson(Template, file);
  return {
    name,
    parameters: Object.fromEntries(Object.entries(template.Parameters).map(([key, { Default }]) => [key, Default])),
    outputs: Object.fromEntries(
      Object.entries(template.Outputs).map(([key, output]) => [
        key,
        { value: output.Value, ...(output.Export && { exportName: output.Export.Name }) },
      ]),
    ),
    resources: Object.entries(template.Resources).map(([logicalId, resource]) => {
      const path = resource.Metadata['aws:cdk:path'];
      return {
        stack: name,
        logicalId,
        type: resource.Type,
        properties: resource.Properties,
        path: typeof path === 'string' ? path : `${name}/${logicalId}`,
      };
    }),
  };
};

/** Reads a synthesized cloud assembly. */
export const readAssembly = (directory: string): Assembly => {
  const { artifacts } = readJson(Manifest, join(directory, 'manifest.json'));
  const stacks: AssemblyStack[] = [];
  const assets = new Map<string, string>();
  for (const [id, { type, properties }] of Object.entries(artifacts)) {
    if (type === 'aws:cloudformation:stack' && properties?.templateFile !== undefined) {
      stacks.push(readStack(join(directory, properties.templateFile), properties.stackName ?? id));
    }
    if (type === 'cdk:asset-manifest' && properties?.file !== undefined) {
      const { files } = readJson(AssetManifest, join(directory, properties.file));
      for (const { source, destinations } of Object.values(files)) {
        for (const { objectKey } of Object.values(destinations)) assets.set(objectKey, join(directory, source.path));
      }
    }
  }
  return { stacks, assets };
};
