import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';

import { createTelemetry } from '../../lambda/observability/telemetry.ts';
import { emittedNames } from './emitted-metrics.ts';
import { metricOf, metricsRead, type ReadMetric, widgetsOf } from './read-metrics.ts';
import { asDeployed, type DeployedStack, stacksOf } from './stage-templates.ts';
import { GIVEN, ROOT } from './synthesized.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** Two stages of one account and region: what makes physical names and metrics alike would make them collide. */
const STAGES = ['prod', 'dev'] as const;
const [prod, dev] = STAGES.map((stage) => stacksOf(stage, GIVEN));
if (prod === undefined || dev === undefined) throw new Error('no stages');
const BOTH = [
  ['prod', prod],
  ['dev', dev],
] as const;

const common = <T>(of: (stacks: readonly DeployedStack[]) => readonly T[]): T[] => {
  const there = new Set(of(dev));
  return of(prod).filter((each) => there.has(each));
};

/** What is unique only within another resource: the property that names the other one. */
const WITHIN: Readonly<Record<string, string>> = {
  'AWS::ApiGatewayV2::Authorizer': 'ApiId',
  'AWS::ApiGatewayV2::Stage': 'ApiId',
  'AWS::IAM::Policy': 'Roles',
};

/** Of a property that names what is read or called, not the resource itself. */
const NAMES_ANOTHER = /^(MetricName|HandlerName)$/;

const namesIn = (stack: DeployedStack): string[] =>
  Object.values(stack.Resources).flatMap(({ Type, Properties }) =>
    Object.entries(Properties)
      .filter(([key, value]) => key.endsWith('Name') && !NAMES_ANOTHER.test(key) && !Array.isArray(value))
      .map(([key, value]) => {
        const parent = WITHIN[Type];
        const within = parent === undefined ? '' : ` of ${parentIn(stack, Properties[parent])}`;
        return `${Type} ${key} ${asDeployed(stack, value)}${within}`;
      }),
  );

const parentIn = (stack: DeployedStack, value: unknown): string => asDeployed(stack, Array.isArray(value) ? value[0] : value);

const exportsOf = ({ Outputs }: DeployedStack): string[] =>
  Object.values(Outputs).flatMap((output) => {
    const found = z.object({ Export: z.object({ Name: z.string() }) }).safeParse(output);
    return found.success ? [found.data.Export.Name] : [];
  });

describe('two stages in one account and region', () => {
  it('have no physical name in common', () => {
    expect(common((stacks) => stacks.map(({ stackName }) => stackName))).toEqual([]);
    expect(common((stacks) => stacks.flatMap(exportsOf))).toEqual([]);
    expect(common((stacks) => stacks.flatMap(namesIn))).toEqual([]);
  });

  it('have names to compare: a composite alarm, a bus, an API, a dashboard and saved queries', () => {
    const types = prod.flatMap(namesIn).map((name) => name.split(' ')[0]);

    expect(types).toEqual(
      expect.arrayContaining([
        'AWS::CloudWatch::CompositeAlarm',
        'AWS::Events::EventBus',
        'AWS::ApiGatewayV2::Api',
        'AWS::CloudWatch::Dashboard',
        'AWS::Logs::QueryDefinition',
      ]),
    );
  });
});

const Environment = z.object({ Variables: z.record(z.string(), z.unknown()) });
const Emf = z.looseObject({
  _aws: z.object({ CloudWatchMetrics: z.array(z.object({ Namespace: z.string(), Dimensions: z.array(z.array(z.string())) })) }),
});

const environmentsOf = (stack: DeployedStack): Record<string, string>[] =>
  Object.values(stack.Resources)
    .filter(({ Type }) => Type === 'AWS::Lambda::Function')
    .map(({ Properties }) => Environment.parse(Properties['Environment']).Variables)
    .map((variables) => Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, asDeployed(stack, value)])));

/** What the real telemetry writes when a function has these settings. */
const emittedWith = (environment: Readonly<Record<string, string>>): ReadMetric[] => {
  for (const [key, value] of Object.entries(environment)) if (key.startsWith('POWERTOOLS_')) vi.stubEnv(key, value);
  const lines: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => lines.push(String(chunk)) > 0);
  const { count, metrics } = createTelemetry(environment['STAGE'] ?? '');
  count('Any');
  metrics.publishStoredMetrics();
  vi.restoreAllMocks();
  const emf = Emf.parse(JSON.parse(lines.join('')));
  return emf._aws.CloudWatchMetrics.flatMap(({ Namespace, Dimensions }) =>
    Dimensions.map((names) =>
      metricOf(
        Namespace,
        'Any',
        names.map((name) => [name, String(emf[name])]),
      ),
    ),
  );
};

const emittedBy = (stacks: readonly DeployedStack[]): string[] => [
  ...new Set(stacks.flatMap(environmentsOf).flatMap((environment) => emittedWith(environment).map(({ identity }) => identity))),
];

const isOurs = ({ namespace }: ReadMetric): boolean => !namespace.startsWith('AWS/');

describe('the metrics of two stages in one account and region', () => {
  it('are different metrics as they are written, the same for every function of a stage', () => {
    expect(emittedBy(prod)).toEqual(['MailDispatch Any Stage=prod service=mail-dispatch']);
    expect(emittedBy(dev)).toEqual(['MailDispatch Any Stage=dev service=mail-dispatch']);
  });

  it('are different metrics as alarms and dashboards read them, and of AWS’s too', () => {
    expect(metricsRead(prod).filter(isOurs).length).toBeGreaterThan(40);
    expect(common((stacks) => metricsRead(stacks).map(({ identity }) => identity))).toEqual([]);
  });

  const names = emittedNames();

  it.each(BOTH)(
    'that alarms and dashboards of %s read are written under that name with exactly those dimensions',
    (_, stacks) => {
      const [written] = stacks.flatMap(environmentsOf).flatMap(emittedWith);
      const unwritten = metricsRead(stacks)
        .filter(isOurs)
        .filter(({ identity, name }) => !names.has(name) || identity !== written?.identity.replace('Any', name));

      expect(unwritten.map(({ identity }) => identity)).toEqual([]);
    },
  );

  it('get their dimensions in one place, from the setting of the function', () => {
    const files = readdirSync(join(ROOT, 'lambda'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    const source = (file: string) => readFileSync(join(ROOT, 'lambda', file), 'utf8');

    expect(files.filter((file) => /new Metrics\(|[dD]imensions?\b.*\(|singleMetric|captureColdStart/.test(source(file)))).toEqual(
      ['observability/telemetry.ts'],
    );
    const roots = files.filter((file) => /^handlers\/[^/]+\/index\.ts$/.test(file));
    expect(roots.filter((file) => !source(file).includes('createTelemetry(env.STAGE)'))).toEqual([]);
  });
});

/** Metrics of the whole account and region: no dimension names a resource of ours. */
const ofAccount = (stacks: readonly DeployedStack[]): string[] =>
  metricsRead(stacks)
    .filter(({ namespace, dimensions }) => namespace.startsWith('AWS/') && !dimensions.some(([, value]) => value.includes('<')))
    .map(({ namespace, name }) => `${namespace} ${name}`);

describe('metrics of the whole account', () => {
  it('are read by the stage with accountAlarms only, with the quota among them', () => {
    expect(ofAccount(prod).sort()).toEqual([
      'AWS/SES Reputation.BounceRate',
      'AWS/SES Reputation.ComplaintRate',
      'AWS/Usage ResourceCount',
    ]);
    expect(ofAccount(dev)).toEqual([]);
    const quota = (stacks: readonly DeployedStack[]) => metricsRead(stacks).filter(({ name }) => name === 'QuotaUsedShare');
    expect([quota(prod).length, quota(dev).length]).toEqual([1, 0]);
  });
});

describe('the dashboards of two stages side by side', () => {
  it.each(BOTH)('name %s in the title of every widget', (name, stacks) => {
    const titles = widgetsOf(stacks).map(({ title }) => title);

    expect(titles.length).toBeGreaterThan(10);
    expect(titles.filter((title) => !title.startsWith(`${name}: `))).toEqual([]);
  });
});
