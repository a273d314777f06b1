import { TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';

import type { AlarmRegistry } from '../constructs/alarm-registry.ts';
import { reputation } from './metrics.ts';

/** Where SES reviews an account (5 % and 0.1 %), and a little below where it may pause it (10 % and 0.5 %). */
export const REPUTATION_LIMITS = {
  bounces: { warn: 0.05, page: 0.08 },
  complaints: { warn: 0.001, page: 0.004 },
} as const;

/** Alarms on how the mails of the whole account are received, by SES's own rates. */
export const addReputationAlarms = (alarms: AlarmRegistry): void => {
  const bounces = {
    metric: reputation('BounceRate'),
    runbook: 'bounce-rate',
    // SES tells the rate only when it changes.
    missing: TreatMissingData.IGNORE,
  } as const;
  const complaints = { ...bounces, metric: reputation('ComplaintRate'), runbook: 'complaint-rate' } as const;

  alarms.add('BouncesHigh', {
    ...bounces,
    threshold: REPUTATION_LIMITS.bounces.warn,
    severity: 'notice',
    impact: 'More than one mail in twenty bounces: SES begins to watch the account.',
  });
  alarms.add('BouncesCritical', {
    ...bounces,
    threshold: REPUTATION_LIMITS.bounces.page,
    severity: 'page',
    impact: 'So many mails bounce that SES may soon pause the account, and then nothing is sent.',
  });
  alarms.add('ComplaintsHigh', {
    ...complaints,
    threshold: REPUTATION_LIMITS.complaints.warn,
    severity: 'notice',
    impact: 'More than one recipient in a thousand calls our mails spam: SES begins to watch the account.',
  });
  alarms.add('ComplaintsCritical', {
    ...complaints,
    threshold: REPUTATION_LIMITS.complaints.page,
    severity: 'page',
    impact: 'So many recipients call our mails spam that SES may soon pause the account, and then nothing is sent.',
  });
};
