import * as z from 'zod';

import { asDeployed, type DeployedStack } from './stage-templates.ts';

/** A metric that an alarm or a widget reads. */
export interface ReadMetric {
  /** Namespace, name and sorted dimensions: what CloudWatch tells metrics apart by. */
  readonly identity: string;
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: readonly (readonly [string, string])[];
}

/** One widget of a dashboard. */
export interface Widget {
  readonly title: string;
  readonly metrics: readonly ReadMetric[];
}

type Dimensions = ReadMetric['dimensions'];

/** The metric of this name and these dimensions. */
export const metricOf = (namespace: string, name: string, dimensions: Dimensions): ReadMetric => {
  const sorted = [...dimensions].sort(([a], [b]) => (a < b ? -1 : 1));
  const identity = [namespace, name, ...sorted.map(([key, value]) => `${key}=${value}`)].join(' ');
  return { identity, namespace, name, dimensions: sorted };
};

const Pairs = z.array(z.object({ Name: z.string(), Value: z.unknown() })).default([]);
const OneMetric = z.object({ Namespace: z.string(), MetricName: z.string(), Dimensions: Pairs });
const Alarm = z.union([
  OneMetric.transform((metric) => [metric]),
  z
    .object({ Metrics: z.array(z.object({ MetricStat: z.object({ Metric: OneMetric }).optional() })) })
    .transform(({ Metrics }) => Metrics.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat.Metric] : []))),
]);

const alarmMetrics = (stack: DeployedStack): ReadMetric[] =>
  resourcesOf(stack, 'AWS::CloudWatch::Alarm')
    .flatMap(({ Properties }) => Alarm.parse(Properties))
    .map(({ Namespace, MetricName, Dimensions: pairs }) =>
      metricOf(
        Namespace,
        MetricName,
        pairs.map(({ Name, Value }) => [Name, asDeployed(stack, Value)]),
      ),
    );

const Body = z.object({
  widgets: z.array(
    z.object({
      type: z.string(),
      properties: z.looseObject({ title: z.string().default(''), metrics: z.array(z.array(z.unknown())).default([]) }),
    }),
  ),
});

/** A row of a widget: namespace, name, pairs of dimensions, and how it is drawn; a row with only the latter is an expression. */
const rowMetrics = (row: readonly unknown[]): ReadMetric[] => {
  const [namespace, name, ...rest] = row.filter((part) => typeof part === 'string');
  if (namespace === undefined || name === undefined) return [];
  const keys = rest.filter((_, index) => index % 2 === 0);
  return [
    metricOf(
      namespace,
      name,
      keys.map((key, index) => [key, rest[2 * index + 1] ?? '']),
    ),
  ];
};

const resourcesOf = ({ Resources }: DeployedStack, type: string) => Object.values(Resources).filter(({ Type }) => Type === type);

/** Widgets of the dashboards of a stage, with the metrics that they show. */
export const widgetsOf = (stacks: readonly DeployedStack[]): Widget[] =>
  stacks.flatMap((stack) =>
    resourcesOf(stack, 'AWS::CloudWatch::Dashboard').flatMap(({ Properties }) =>
      Body.parse(JSON.parse(asDeployed(stack, Properties['DashboardBody']))).widgets.map(
        ({ properties: { title, metrics } }) => ({
          title,
          metrics: metrics.flatMap(rowMetrics),
        }),
      ),
    ),
  );

/** Every metric that an alarm or a widget of a stage reads, each once. */
export const metricsRead = (stacks: readonly DeployedStack[]): ReadMetric[] => {
  const read = [...stacks.flatMap(alarmMetrics), ...widgetsOf(stacks).flatMap(({ metrics }) => metrics)];
  return [...new Map(read.map((metric) => [metric.identity, metric])).values()];
};
