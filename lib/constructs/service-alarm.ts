import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, Metric, Stats, type TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';

import { runbookPath, type RunbookSection } from '../runbook.ts';
import { METRICS_NAMESPACE, SERVICE_NAME } from './service-function.ts';

export interface ServiceAlarmProps {
  /** A metric of our functions; one value above zero is a cause to look. */
  readonly metricName: string;
  /** What it means for people: one sentence, read in the middle of the night. */
  readonly impact: string;
  readonly runbook: RunbookSection;
  /**
   * What no value at all says. A state that is told every few minutes stays what it was; events that are counted did not
   * happen.
   */
  readonly missing: TreatMissingData.IGNORE | TreatMissingData.NOT_BREACHING;
}

/** Goes off when the service tells of something that a person must know; once, however often it tells. */
export class ServiceAlarm extends Construct {
  constructor(scope: Construct, id: string, { metricName, impact, runbook, missing }: ServiceAlarmProps) {
    super(scope, id);
    new Alarm(this, 'Alarm', {
      metric: new Metric({
        namespace: METRICS_NAMESPACE,
        metricName,
        dimensionsMap: { service: SERVICE_NAME },
        statistic: Stats.MAXIMUM,
        // The sweeper tells states as often.
        period: Duration.minutes(5),
      }),
      threshold: 0,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: missing,
      alarmDescription: `${impact} Runbook: ${runbookPath(runbook)}`,
    });
  }
}
