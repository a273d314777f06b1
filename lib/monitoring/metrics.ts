import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';

import { METRICS_NAMESPACE, SERVICE_NAME } from '../constructs/service-function.ts';

/** As often as the sweeper tells states. */
export const FIVE_MINUTES = Duration.minutes(5);
export const ONE_MINUTE = Duration.minutes(1);

/** Makes a metric that our functions write, by its name; the period is five minutes unless another is given. */
export type OwnMetric = (metricName: string, statistic: string, period?: Duration) => Metric;

/** The metrics of one stage; all have the same two dimensions. */
export const ownMetricsOf =
  (stage: string): OwnMetric =>
  (metricName, statistic, period = FIVE_MINUTES) =>
    new Metric({
      namespace: METRICS_NAMESPACE,
      metricName,
      dimensionsMap: { service: SERVICE_NAME, Stage: stage },
      statistic,
      period,
    });

/** Executions of all functions of the account in this region at once, as a share of the quota, from 0 to 1. */
export const concurrencyShare = (): MathExpression =>
  new MathExpression({
    label: 'executions at once, of the quota',
    expression: 'used / SERVICE_QUOTA(used)',
    usingMetrics: {
      used: new Metric({
        namespace: 'AWS/Usage',
        metricName: 'ResourceCount',
        dimensionsMap: { Service: 'Lambda', Type: 'Resource', Resource: 'ConcurrentExecutions', Class: 'None' },
        statistic: Stats.MAXIMUM,
      }),
    },
    period: ONE_MINUTE,
  });

/** A rate of the SES account in this region, from 0 to 1, over as many mails as SES finds representative. */
export const reputation = (name: 'BounceRate' | 'ComplaintRate'): Metric =>
  new Metric({
    namespace: 'AWS/SES',
    metricName: `Reputation.${name}`,
    statistic: Stats.MAXIMUM,
    period: Duration.hours(1),
  });
