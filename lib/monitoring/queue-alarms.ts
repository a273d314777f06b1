import { Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';

import type { AlarmRegistry } from '../constructs/alarm-registry.ts';
import type { WorkerQueue } from '../constructs/worker-queue.ts';
import { ONE_MINUTE } from './metrics.ts';
import type { MonitoredResources } from './monitored-resources.ts';

/** A queue that nobody used for hours sends no metrics; that is no trouble. */
const QUIET_IS_GOOD = { missing: TreatMissingData.NOT_BREACHING } as const;
const LATEST = { statistic: Stats.MAXIMUM, period: ONE_MINUTE };

/** SQS lets no more than 120,000 messages be in hand, and then hands out none without an error. */
const NEARLY_FULL = 90_000;

/** Alarms on the queues, by SQS's own metrics. */
export const addQueueAlarms = (
  alarms: AlarmRegistry,
  { sends, tasks, feedback }: MonitoredResources,
  lateSeconds: number,
): void => {
  addDeadLetterAlarm(alarms, 'SendDeadLetters', sends, 'page');
  addDeadLetterAlarm(alarms, 'TaskDeadLetters', tasks, 'notice');
  addDeadLetterAlarm(alarms, 'FeedbackDeadLetters', feedback, 'notice');
  alarms.add('SendQueueOld', {
    ...QUIET_IS_GOOD,
    // Blind to messages that were received three times; the sweeper's alarm sees the rows behind them.
    metric: sends.queue.metricApproximateAgeOfOldestMessage(LATEST),
    threshold: lateSeconds,
    when: { bad: 15, of: 15 },
    severity: 'notice',
    impact: 'Mails wait longer than they should before anybody tries to send them.',
    runbook: 'send-queue-old',
  });
  alarms.add('SendQueueFull', {
    ...QUIET_IS_GOOD,
    metric: sends.queue.metricApproximateNumberOfMessagesNotVisible(LATEST),
    threshold: NEARLY_FULL,
    when: { bad: 5, of: 5 },
    severity: 'page',
    impact: 'So many mails wait for another attempt that the queue is about to hand out no others.',
    runbook: 'send-queue-full',
  });
  alarms.add('FeedbackQueueOld', {
    ...QUIET_IS_GOOD,
    metric: feedback.queue.metricApproximateAgeOfOldestMessage(LATEST),
    threshold: 300,
    when: { bad: 5, of: 5 },
    severity: 'notice',
    impact: 'Events of SES are applied minutes late: bounces are seen late, and lost answers are settled late.',
    runbook: 'feedback-queue-old',
  });
};

const addDeadLetterAlarm = (alarms: AlarmRegistry, id: string, queue: WorkerQueue, severity: 'page' | 'notice'): void => {
  alarms.add(id, {
    ...QUIET_IS_GOOD,
    ...queue.whenGivenUp,
    // SQS counts its own moves as no sending; only "visible" sees them.
    metric: queue.deadLetters.metricApproximateNumberOfMessagesVisible(LATEST),
    severity,
  });
};
