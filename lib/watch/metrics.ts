import { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';

import { METRICS_NAMESPACE, SERVICE_NAME } from '../constructs/service-function.ts';

/** As often as the sweeper tells states. */
export const FIVE_MINUTES = Duration.minutes(5);
export const ONE_MINUTE = Duration.minutes(1);

/** A metric that our functions write; all have the one dimension. */
export const ownMetric = (metricName: string, statistic: string, period = FIVE_MINUTES): Metric =>
  new Metric({ namespace: METRICS_NAMESPACE, metricName, dimensionsMap: { service: SERVICE_NAME }, statistic, period });

/** A rate of the SES account in this region, from 0 to 1, over as many mails as SES finds representative. */
export const reputation = (name: 'BounceRate' | 'ComplaintRate'): Metric =>
  new Metric({
    namespace: 'AWS/SES',
    metricName: `Reputation.${name}`,
    statistic: Stats.MAXIMUM,
    period: Duration.hours(1),
  });
