import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { describeIdle, type IdleCounts, MONTH_MINUTES } from '../../tools/costs/idle.ts';
import { PRICE_PAGES, PRICES_READ } from '../../tools/costs/idle-prices.ts';
import { removeFolders, ROOT, synthesize } from './synthesized.ts';

afterAll(removeFolders);

const FILE = join(ROOT, 'docs/costs.md');
const [BEGIN, END] = ['<!-- idle: written by `npm run costs:idle` -->', '<!-- /idle -->'];

interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
}

const templates = Object.values(synthesize('prod', { alarmEmail: 'duty@example.org' }));
const resources = templates.flatMap((template) => Object.values(template.toJSON()['Resources'] as Record<string, Resource>));
const ofType = (type: string): Resource[] => resources.filter(({ Type }) => Type === type);

/** Metrics that an alarm reads: those of an expression are paid for one by one. */
const metricsOf = ({ Properties }: Resource): number => {
  const metrics = Properties['Metrics'] as { MetricStat?: unknown }[] | undefined;
  return metrics === undefined ? 1 : metrics.filter(({ MetricStat }) => MetricStat !== undefined).length;
};

/** Text of a dashboard with the parts that CloudFormation puts in left as they are. */
const bodyOf = ({ Properties }: Resource): string => {
  const body = Properties['DashboardBody'] as string | { 'Fn::Join': [string, unknown[]] };
  if (typeof body === 'string') return body;
  return body['Fn::Join'][1].map((part) => (typeof part === 'string' ? part : JSON.stringify(part).replaceAll('"', ''))).join('');
};

/** Different metrics that a dashboard shows; percentiles and periods of one are the same metric. */
const shownMetrics = (dashboard: Resource): number => {
  const { widgets } = JSON.parse(bodyOf(dashboard)) as { widgets: { properties: { metrics?: unknown[][] } }[] };
  const named = widgets
    .flatMap(({ properties }) => properties.metrics ?? [])
    .map((line) => JSON.stringify(line.filter((part) => typeof part === 'string')))
    .filter((line) => line !== '[]');
  return new Set(named).size;
};

const filesUnder = (folder: string): string =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(ROOT, folder, name), 'utf8'))
    .join('\n');

/** Names of metrics that the code of a folder writes. */
const written = (...folders: readonly string[]): Set<string> => {
  const code = folders.map(filesUnder).join('\n');
  return new Set([...code.matchAll(/\b(?:count|addMetric)\(\s*'([A-Z]\w+)'/g)].map(([, name = '']) => name));
};

/** Our metrics that alarms or the dashboard name, too: a name that code puts together is found there. */
const named = (): Set<string> => {
  const text = ofType('AWS::CloudWatch::Dashboard').map(bodyOf).join('\n');
  const shown = [...text.matchAll(/"MailDispatch","(\w+)"/g)].map(([, name = '']) => name);
  const alarmed = ofType('AWS::CloudWatch::Alarm').flatMap(({ Properties }) =>
    Properties['Namespace'] === 'MailDispatch' ? [String(Properties['MetricName'])] : [],
  );
  return new Set([...shown, ...alarmed]);
};

const minutesOf = (expression: unknown): number => {
  const [, n = '', unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(String(expression)) ?? [];
  return Number(n) * { minute: 1, hour: 60, day: 1_440 }[unit as 'minute' | 'hour' | 'day'];
};

const schedules = (): IdleCounts['schedules'] => {
  const { dispatch } = synthesize('prod', { alarmEmail: 'duty@example.org' });
  const functions = dispatch.findResources('AWS::Lambda::Function') as Record<string, { Properties: { MemorySize: number } }>;
  return ofType('AWS::Events::Rule').flatMap(({ Properties }) => {
    if (Properties['ScheduleExpression'] === undefined) return [];
    const [target] = Properties['Targets'] as [{ Arn: { 'Fn::GetAtt': [string, string] } }];
    const [id] = target.Arn['Fn::GetAtt'];
    const runs = MONTH_MINUTES / minutesOf(Properties['ScheduleExpression']);
    return [{ name: id.replace(/Function[0-9A-F]{8}$/, ''), runs, memoryMegabytes: functions[id]?.Properties.MemorySize ?? 0 }];
  });
};

/** What the templates of a stage with `alarmEmail` have that is paid for by the month. */
const counts = (): IdleCounts => {
  const alarms = ofType('AWS::CloudWatch::Alarm');
  const dashboards = ofType('AWS::CloudWatch::Dashboard');
  const mappings = ofType('AWS::Lambda::EventSourceMapping');
  return {
    alarms: alarms.length,
    alarmMetrics: alarms.reduce((sum, alarm) => sum + metricsOf(alarm), 0),
    compositeAlarms: ofType('AWS::CloudWatch::CompositeAlarm').length,
    keys: ofType('AWS::KMS::Key').length,
    dashboards: dashboards.length,
    dashboardMetrics: Math.max(...dashboards.map(shownMetrics)),
    idleCustomMetrics: written('lambda/handlers/sweep', 'lambda/handlers/resolve-unclear').size,
    customMetrics: new Set([...written('lambda'), ...named()]).size,
    polledQueues: mappings.filter(({ Properties }) => Properties['StartingPosition'] === undefined).length,
    queues: ofType('AWS::SQS::Queue').length,
    schedules: schedules(),
  };
};

describe('docs/costs.md', () => {
  const text = readFileSync(FILE, 'utf8');
  const [before = '', rest = ''] = text.split(BEGIN);
  const [, after = ''] = rest.split(END);

  it('has the costs of a month without mails as the templates give them; if not, `npm run costs:idle` writes them', () => {
    const wanted = `${before}${BEGIN}\n\n${describeIdle(counts())}\n\n${END}${after}`;
    if (process.env['WRITE_COSTS'] === '1') writeFileSync(FILE, wanted);
    else expect(text).toBe(wanted);
  });

  it('says where its prices come from, and when they were read', () => {
    expect(text).toContain(PRICES_READ);
    for (const page of Object.values(PRICE_PAGES).flat()) expect(text).toContain(page);
  });
});

describe('the costs of a month without mails', () => {
  const few: IdleCounts = {
    alarms: 2,
    alarmMetrics: 3,
    compositeAlarms: 1,
    keys: 2,
    dashboards: 1,
    dashboardMetrics: 50,
    idleCustomMetrics: 4,
    customMetrics: 10,
    polledQueues: 1,
    queues: 2,
    schedules: [],
  };

  it.each([
    [50, '| 0 | 3.00 | dashboard | unchecked | under 0.01 |'],
    [51, '| 1 | 3.00 | dashboard | unchecked | 3.00 |'],
  ])('charge a dashboard once it has more than 50 metrics: %d', (dashboardMetrics, row) => {
    expect(describeIdle({ ...few, dashboardMetrics })).toContain(row);
  });

  it('add up', () => {
    // 3 alarm metrics 0.30, composite 0.50, 4 metrics 1.20, keys 2.00, 648,000 requests 0.26, table and recovery 0.45.
    expect(describeIdle(few)).toContain('Together 4.71 dollars a month.');
    expect(describeIdle(few)).toContain('| 648,000 | 0.4 per million |');
    expect(describeIdle(few)).toContain('up to 1.80 dollars more');
  });
});
