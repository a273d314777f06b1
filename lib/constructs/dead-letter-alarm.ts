import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';

import { runbookPath, type RunbookSection } from '../runbook.ts';

export interface DeadLetterAlarmProps {
  readonly deadLetters: IQueue;
  /** What it means for people that messages are there: one sentence, read in the middle of the night. */
  readonly impact: string;
  readonly runbook: RunbookSection;
}

/** Goes off as soon as one message has been given up. */
export class DeadLetterAlarm extends Construct {
  constructor(scope: Construct, id: string, { deadLetters, impact, runbook }: DeadLetterAlarmProps) {
    super(scope, id);

    new Alarm(this, 'Alarm', {
      // SQS counts its own moves as no sending; only "visible" sees them.
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(1), statistic: 'Maximum' }),
      threshold: 0,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      evaluationPeriods: 1,
      // A queue that nobody used for hours sends no metrics; that is no trouble.
      treatMissingData: TreatMissingData.NOT_BREACHING,
      alarmDescription: `${impact} Runbook: ${runbookPath(runbook)}`,
    });
  }
}
