import { Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';

import type { AlarmRegistry } from '../constructs/alarm-registry.ts';
import { BY_ADMIN_INDEX, type DispatchTable, OPEN_INDEX } from '../constructs/dispatch-table.ts';
import type { StreamConsumer } from '../constructs/stream-consumer.ts';
import { FIVE_MINUTES, ONE_MINUTE } from './metrics.ts';
import type { MonitoredResources } from './monitored-resources.ts';

const QUIET_IS_GOOD = { missing: TreatMissingData.NOT_BREACHING } as const;

/** Alarms on the functions, by Lambda's own metrics. */
export const addFunctionAlarms = (alarms: AlarmRegistry, { sender, background, streams }: MonitoredResources): void => {
  for (const each of background) {
    alarms.add(`${each.node.id}Errors`, {
      ...QUIET_IS_GOOD,
      metric: each.lambda.metricErrors({ period: ONE_MINUTE }),
      when: { bad: 3, of: 5 },
      severity: 'notice',
      impact: `${each.node.id} fails again and again: what it should do waits and comes again.`,
      runbook: 'function-errors',
    });
  }
  alarms.add('SenderThrottled', {
    ...QUIET_IS_GOOD,
    metric: sender.lambda.metricThrottles({ period: ONE_MINUTE }),
    when: { bad: 5, of: 5 },
    severity: 'notice',
    impact: 'Senders are kept from running, and each time healthy mails come closer to being given up.',
    runbook: 'sender-throttled',
  });
  alarms.add('SenderSlow', {
    ...QUIET_IS_GOOD,
    metric: sender.lambda.metricDuration({ statistic: Stats.percentile(99), period: FIVE_MINUTES }),
    threshold: 0.8 * sender.timeout.toMilliseconds(),
    when: { bad: 3, of: 3 },
    severity: 'notice',
    impact: 'Senders are about to be killed with mails in hand, of which it is then unclear whether they went out.',
    runbook: 'sender-slow',
  });
  for (const stream of streams) addStreamAlarms(alarms, stream);
};

/** The stream forgets after 24 hours. */
const addStreamAlarms = (alarms: AlarmRegistry, { consumer, mapping, whenLate, whenGivenUp, whenLost }: StreamConsumer): void => {
  const events = (metricName: string) =>
    new Metric({
      namespace: 'AWS/Lambda',
      metricName,
      dimensionsMap: { EventSourceMappingUUID: mapping.eventSourceMappingId },
      statistic: Stats.SUM,
      period: ONE_MINUTE,
    });
  alarms.add(`${consumer.node.id}Late`, {
    ...QUIET_IS_GOOD,
    ...whenLate,
    metric: consumer.lambda.metric('IteratorAge', { statistic: Stats.MAXIMUM, period: ONE_MINUTE }),
    threshold: 300_000,
    when: { bad: 3, of: 5 },
  });
  alarms.add(`${consumer.node.id}GaveUp`, {
    ...QUIET_IS_GOOD,
    ...whenGivenUp,
    metric: events('OnFailureDestinationDeliveredEventCount'),
    severity: 'notice',
  });
  alarms.add(`${consumer.node.id}Lost`, {
    ...QUIET_IS_GOOD,
    ...whenLost,
    // Counts what was given up and did not reach the bucket; what did reach it is not among these.
    metric: events('DroppedEventCount'),
    severity: 'notice',
  });
};

/** Alarms on the table and its indexes: throttles of an index are told under the index alone. */
export const addTableAlarms = (alarms: AlarmRegistry, { table }: DispatchTable): void => {
  const throttles = (metricName: string, index?: string) =>
    new Metric({
      namespace: 'AWS/DynamoDB',
      metricName,
      dimensionsMap: { TableName: table.tableName, ...(index !== undefined && { GlobalSecondaryIndexName: index }) },
      statistic: Stats.SUM,
      period: ONE_MINUTE,
    });
  const monitored: readonly (readonly [string, Metric])[] = [
    ['TableWritesThrottled', throttles('WriteThrottleEvents')],
    ['TableReadsThrottled', throttles('ReadThrottleEvents')],
    ['AdminIndexThrottled', throttles('WriteThrottleEvents', BY_ADMIN_INDEX)],
    ['OpenIndexThrottled', throttles('WriteThrottleEvents', OPEN_INDEX)],
  ];
  for (const [id, metric] of monitored) {
    alarms.add(id, {
      ...QUIET_IS_GOOD,
      metric,
      when: { bad: 3, of: 5 },
      severity: 'notice',
      impact: 'The table holds requests back: mails go out more slowly, and requests may be answered 503.',
      runbook: 'table-throttled',
    });
  }
};

/** Alarms on the API. Few people call it, so a share of failed calls would say little: any that go on failing count. */
export const addApiAlarms = (alarms: AlarmRegistry, { api }: MonitoredResources): void => {
  alarms.add('ApiErrors', {
    ...QUIET_IS_GOOD,
    metric: api.metricServerError({ statistic: Stats.SUM, period: FIVE_MINUTES }),
    when: { bad: 2, of: 3 },
    severity: 'page',
    impact: 'Requests to the API fail: mails cannot be asked for, or not be looked after.',
    runbook: 'api-errors',
  });
  alarms.add('ApiSlow', {
    ...QUIET_IS_GOOD,
    metric: api.metricLatency({ statistic: Stats.percentile(99), period: FIVE_MINUTES }),
    // A request of 50,000 recipients may take some seconds; at 30 s the API gives up.
    threshold: 15_000,
    when: { bad: 2, of: 3 },
    severity: 'notice',
    impact: 'Requests to the API take so long that large ones are about to be cut off.',
    runbook: 'api-slow',
  });
};
