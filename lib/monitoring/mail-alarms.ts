import { Duration } from 'aws-cdk-lib';
import { Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';

import type { StageSettings } from '../config/stages.ts';
import type { AlarmRegistry, RegisteredAlarmProps } from '../constructs/alarm-registry.ts';
import { type OwnMetric, ownMetricsOf } from './metrics.ts';

/** Our own metrics that count something nobody wants to happen: the first one is a cause to look. */
const EVENTS: readonly (readonly [string, Pick<RegisteredAlarmProps, 'severity' | 'impact' | 'runbook'>])[] = [
  [
    'DispatchStopped',
    {
      severity: 'notice',
      impact:
        'A dispatch was stopped with mails unsent: too many were refused, bounced or were complained about, it is too old to be sent unasked, or its stored list is damaged.',
      runbook: 'dispatch-stopped',
    },
  ],
  [
    'AccountTrouble',
    {
      severity: 'notice',
      impact:
        'SES refuses mails for the account’s sake: if it refuses all of them, sending pauses; otherwise their recipients wait, and fail in the end.',
      runbook: 'mails-refused-for-the-account',
    },
  ],
  [
    'CanaryUnusable',
    {
      severity: 'notice',
      impact: 'SES refuses the service’s own test mails but not those to recipients: pauses last longer than they need to.',
      runbook: 'canary-unusable',
    },
  ],
  [
    'CredentialsRefused',
    {
      severity: 'notice',
      impact: 'SES refuses the credentials of a sender: that sender rests, and if it happens to several, sending pauses.',
      runbook: 'credentials-refused',
    },
  ],
  [
    'OutcomeUnknown',
    {
      severity: 'page',
      impact: 'Of some recipients nobody can tell whether they got their mail, and nothing tries again until a person does.',
      runbook: 'outcome-unknown',
    },
  ],
  [
    'CanaryRefused',
    {
      severity: 'notice',
      impact:
        'SES refuses the canaries that make it publish an event on a quiet day: mails whose outcome is unclear wait for two hours.',
      runbook: 'canary-refused',
    },
  ],
  [
    'UnclearUnreadable',
    {
      severity: 'notice',
      impact: 'Of some recipients it is not decided whether they got their mail, as what is stored of them cannot be read.',
      runbook: 'unreadable-data',
    },
  ],
  [
    'DuplicateSent',
    {
      severity: 'notice',
      impact: 'Somebody got a mail twice: SES took it, its answer was lost, and its event came too late.',
      runbook: 'duplicate-sent',
    },
  ],
  [
    'MailRejected',
    {
      severity: 'notice',
      impact: 'SES took mails and then threw them away, since it found malware in them: their recipients have no mail.',
      runbook: 'mails-discarded',
    },
  ],
  [
    'MailNotRendered',
    {
      severity: 'notice',
      impact: 'SES took mails and then could not make them: their recipients have no mail.',
      runbook: 'mails-discarded',
    },
  ],
  [
    'FeedbackEnveloped',
    {
      severity: 'notice',
      impact:
        'SNS wraps the events of SES in its own envelope: they are applied all the same, but something changed the subscription.',
      runbook: 'raw-delivery-off',
    },
  ],
  [
    'OutboxRecordMalformed',
    {
      severity: 'notice',
      impact: 'Changes of the table that ask for mails could not be understood: they wait in a bucket for a person.',
      runbook: 'records-not-relayed',
    },
  ],
  [
    'ProgressRecordMalformed',
    {
      severity: 'notice',
      impact:
        'Changes of recipients or dispatches could not be understood or written down: mails go out as ever, but they are not counted.',
      runbook: 'records-not-counted',
    },
  ],
  [
    'RecipientBroken',
    {
      severity: 'notice',
      impact: 'A recipient is stored in a way that this version cannot read, and gets no mail until a person acts.',
      runbook: 'unreadable-data',
    },
  ],
  [
    'DispatchUnreadable',
    {
      severity: 'notice',
      impact: 'A dispatch is stored in a way that this version cannot read: nothing recovers it, and it does not complete.',
      runbook: 'unreadable-data',
    },
  ],
];

/** States that are told at each pass of the sweeper: without news they are what they were. */
const STATES: typeof EVENTS = [
  [
    'SendingPaused',
    {
      severity: 'page',
      impact: 'Nothing is sent: the account cannot send, or an operator paused it; mails wait and none is lost.',
      runbook: 'sending-paused',
    },
  ],
  [
    'AccountOutdated',
    {
      severity: 'notice',
      impact: 'SES has not described the account for 15 minutes: mails go out at the last known rate, and no date is estimated.',
      runbook: 'account-outdated',
    },
  ],
  [
    'BatchOverdue',
    {
      severity: 'page',
      impact: 'Some recipients of a large dispatch have waited for more than an hour to be put into the table: they get no mail.',
      runbook: 'batches-overdue',
    },
  ],
  [
    'FeedbackSilent',
    {
      severity: 'notice',
      impact: 'Mails go out, but no event of SES comes: bounces are not seen and lost answers cannot be settled.',
      runbook: 'feedback-silent',
    },
  ],
];

/** Alarms on what the service itself tells of its mails. */
export const addMailAlarms = (alarms: AlarmRegistry, stage: StageSettings): void => {
  const ownMetric = ownMetricsOf(stage.name);
  for (const [name, props] of EVENTS)
    alarms.add(name, { ...props, metric: ownMetric(name, Stats.MAXIMUM), missing: TreatMissingData.NOT_BREACHING });
  for (const [name, props] of STATES)
    alarms.add(name, { ...props, metric: ownMetric(name, Stats.MAXIMUM), missing: TreatMissingData.IGNORE });
  addRecoveryAlarms(alarms, ownMetric, stage);
  addUnclearAlarms(alarms, ownMetric);
};

/** Periods of alarms end at a day. */
const twoVisits = (revisitSeconds: number): Duration =>
  Duration.minutes(Math.min(1_440, 5 * Math.ceil((2 * revisitSeconds) / 300)));

const QUARTER = Duration.minutes(15);

const addRecoveryAlarms = (alarms: AlarmRegistry, ownMetric: OwnMetric, { lateSeconds, revisitSeconds }: StageSettings): void => {
  alarms.add('SweepSilent', {
    metric: ownMetric('SweepProgressed', Stats.SUM, QUARTER),
    threshold: 1,
    goesOffBelow: true,
    severity: 'page',
    impact: 'Recovery does not run: mails that lost their message are not sent, and after a day nothing is sent at all.',
    runbook: 'sweep-silent',
    missing: TreatMissingData.BREACHING,
  });
  alarms.add('SweepRoundsSlow', {
    metric: ownMetric('SweepFinished', Stats.SUM, Duration.hours(6)),
    threshold: 1,
    goesOffBelow: true,
    severity: 'page',
    impact: 'Recovery has not got to every dispatch for six hours: if it does not within a day, nothing is sent at all.',
    runbook: 'sweep-rounds-slow',
    missing: TreatMissingData.BREACHING,
  });
  alarms.add('MailsOverdue', {
    // A dispatch is looked at only every so often, and a pass that looks at none tells 0: the window holds a look at each.
    metric: ownMetric('OldestPendingSeconds', Stats.MAXIMUM, twoVisits(revisitSeconds)),
    threshold: lateSeconds,
    severity: 'page',
    impact: 'Some mails should have gone out long ago and still wait.',
    runbook: 'mails-overdue',
    // A dead sweeper has an alarm of its own, and during a pause late mails stay late.
    missing: TreatMissingData.IGNORE,
  });
  alarms.add('RelaySilent', {
    metric: ownMetric('RecipientReEnqueued', Stats.SUM, QUARTER),
    when: { bad: 3, of: 4 },
    severity: 'notice',
    impact: 'Mails go out ten minutes late, because only recovery puts them on their way.',
    runbook: 'relay-silent',
    missing: TreatMissingData.NOT_BREACHING,
  });
  alarms.add('RecoveryFails', {
    metric: ownMetric('SweepRecoveryFailed', Stats.SUM, QUARTER),
    when: { bad: 2, of: 2 },
    severity: 'notice',
    impact: 'Recovery cannot look after some dispatches: what lost its message there is not sent.',
    runbook: 'recovery-fails',
    missing: TreatMissingData.NOT_BREACHING,
  });
};

/** Alarms on the walk over unclear attempts, which is made every minute. */
const addUnclearAlarms = (alarms: AlarmRegistry, ownMetric: OwnMetric): void => {
  alarms.add('UnclearSilent', {
    metric: ownMetric('UnclearWalkFinished', Stats.SUM, QUARTER),
    threshold: 1,
    goesOffBelow: true,
    // Recipients that wait for more than an hour page by themselves.
    severity: 'notice',
    impact: 'Nobody decides what follows a mail whose outcome is unclear: those recipients wait.',
    runbook: 'unclear-attempts-not-resolved',
    missing: TreatMissingData.BREACHING,
  });
  alarms.add('UnclearNotResolved', {
    metric: ownMetric('UnclearNotResolved', Stats.SUM),
    when: { bad: 3, of: 3 },
    severity: 'notice',
    impact: 'Some mails whose outcome is unclear cannot be decided on: their recipients wait.',
    runbook: 'unclear-attempts-not-resolved',
    missing: TreatMissingData.NOT_BREACHING,
  });
};
