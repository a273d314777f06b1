import { Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';

import type { StageSettings } from '../config/stages.ts';
import type { AlarmRegistry } from '../constructs/alarm-registry.ts';
import { concurrencyShare, ownMetricsOf } from './metrics.ts';
import { addReputationAlarms } from './reputation-alarms.ts';

/** From here on somebody should ask for more: of the mails of 24 hours, and of the executions at once. */
export const NEARLY_USED = 0.8;

/** Alarms on what all stages of an account and region share: one stage has them, or each would tell the same. */
export const addAccountAlarms = (alarms: AlarmRegistry, stage: StageSettings): void => {
  alarms.add('QuotaNearlyUsed', {
    metric: ownMetricsOf(stage.name)('QuotaUsedShare', Stats.MAXIMUM),
    threshold: NEARLY_USED,
    severity: 'notice',
    impact: 'Four fifths of the mails that SES takes in 24 hours are used: what comes beyond waits for the next day.',
    runbook: 'quota-nearly-used',
    // Without an answer of SES there is another alarm.
    missing: TreatMissingData.NOT_BREACHING,
  });
  alarms.add('ConcurrencyNearlyUsed', {
    metric: concurrencyShare(),
    threshold: NEARLY_USED,
    when: { bad: 5, of: 5 },
    severity: 'notice',
    impact:
      'Four fifths of the executions that Lambda allows the account at once are used: the API may answer 503, and accepted mails may wait.',
    runbook: 'concurrency-nearly-used',
    missing: TreatMissingData.NOT_BREACHING,
  });
  addReputationAlarms(alarms);
};
