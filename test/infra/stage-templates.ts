import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import * as z from 'zod';

const ROOT = resolve(import.meta.dirname, '../..');

const Values = z.record(z.string(), z.unknown());
const Resource = z.object({ Type: z.string(), Properties: Values.default({}) });
const Template = z.object({ Resources: z.record(z.string(), Resource), Outputs: Values.default({}) });
const Manifest = z.object({
  artifacts: z.record(
    z.string(),
    z.object({ type: z.string(), properties: z.looseObject({ stackName: z.string().optional() }).optional() }),
  ),
});
const CdkJson = z.object({ context: Values });

/** One stack as it is deployed: its physical name, and the template. */
export interface DeployedStack extends z.output<typeof Template> {
  readonly stackName: string;
}

const readJson = (...path: string[]): unknown => JSON.parse(readFileSync(join(...path), 'utf8'));

/** The stacks that bin's app makes of a stage, as the CDK command line runs it, without bundles. */
export const stacksOf = (stage: string, settings: Readonly<Record<string, unknown>>): DeployedStack[] => {
  const folder = mkdtempSync(join(tmpdir(), 'mail-dispatch-stage-'));
  try {
    const { context } = CdkJson.parse(readJson(ROOT, 'cdk.json'));
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'bin/mail-dispatch.ts')], {
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        CDK_OUTDIR: folder,
        CDK_VALIDATION: 'false',
        CDK_CONTEXT_JSON: JSON.stringify({ ...context, 'aws:cdk:bundling-stacks': [], ...settings, stage }),
      },
    });
    if (status !== 0) throw new Error(`stage ${stage} was not made: ${stderr}`);
    const { artifacts } = Manifest.parse(readJson(folder, 'manifest.json'));
    return Object.entries(artifacts)
      .filter(([, { type }]) => type === 'aws:cloudformation:stack')
      .map(([id, { properties }]) => ({
        stackName: properties?.stackName ?? id,
        ...Template.parse(readJson(folder, `${id}.template.json`)),
      }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const Reference = z.union([
  z.strictObject({ Ref: z.string() }).transform(({ Ref }) => Ref),
  z.strictObject({ 'Fn::GetAtt': z.array(z.string()) }).transform((get) => get['Fn::GetAtt'].join('.')),
]);
const Import = z.strictObject({ 'Fn::ImportValue': z.string() });
const Join = z.strictObject({ 'Fn::Join': z.tuple([z.string(), z.array(z.unknown())]) });

/**
 * A value as text. What CloudFormation makes up carries the name of the stack, as physical names made up by it do; account,
 * region and partition are the same in every stack and so are left as they are written.
 */
export const asDeployed = ({ stackName }: DeployedStack, value: unknown): string => {
  const text = (part: unknown): string => {
    if (typeof part !== 'object' || part === null) return String(part);
    const reference = Reference.safeParse(part);
    if (reference.success) return reference.data.startsWith('AWS::') ? `<${reference.data}>` : `<${stackName}/${reference.data}>`;
    const imported = Import.safeParse(part);
    if (imported.success) return `<${imported.data['Fn::ImportValue']}>`;
    const [separator, parts] = Join.parse(part)['Fn::Join'];
    return parts.map(text).join(separator);
  };
  return text(value);
};
