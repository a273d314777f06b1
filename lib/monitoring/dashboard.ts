import { Duration } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  CustomWidget,
  Dashboard,
  GraphWidget,
  type GraphWidgetProps,
  type IMetric,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';

import type { StageSettings } from '../config/stages.ts';
import { NEARLY_USED } from './account-alarms.ts';
import { concurrencyShare, ONE_MINUTE, type OwnMetric, ownMetricsOf, reputation } from './metrics.ts';
import type { MonitoredResources } from './monitored-resources.ts';
import { REPUTATION_LIMITS } from './reputation-alarms.ts';

export interface ServiceDashboardProps {
  /** Physical name. */
  readonly name: string;
  readonly stage: StageSettings;
  readonly monitored: MonitoredResources;
  readonly alarms: readonly Alarm[];
}

/** The dashboard is 24 columns wide. */
const HALF = 12;
const QUARTER = 6;

/** What every graph of a stage is made with. */
interface Pen {
  /** A title that names the stage: dashboards of two stages may lie side by side. */
  readonly title: (title: string) => string;
  readonly graph: (title: string, left: readonly IMetric[], more?: Omit<GraphWidgetProps, 'title' | 'left'>) => GraphWidget;
  readonly ownMetric: OwnMetric;
  /** How often each of these happened in a minute. */
  readonly perMinute: (...names: readonly string[]) => IMetric[];
}

const penOf = (stage: string): Pen => {
  const ownMetric = ownMetricsOf(stage);
  const title = (text: string) => `${stage}: ${text}`;
  return {
    title,
    graph: (text, left, more = {}) =>
      new GraphWidget({ width: HALF, height: 6, leftYAxis: { min: 0 }, title: title(text), left: [...left], ...more }),
    ownMetric,
    perMinute: (...names) => names.map((name) => ownMetric(name, Stats.SUM, ONE_MINUTE)),
  };
};

const PERCENTILES = [50, 95, 99];

/** What a person wants to see at one glance: is it moving, how fast, what becomes of mails, and what holds them up. */
export class ServiceDashboard extends Construct {
  readonly dashboard: Dashboard;

  constructor(scope: Construct, id: string, { name, stage, monitored, alarms }: ServiceDashboardProps) {
    super(scope, id);
    const pen = penOf(stage.name);
    this.dashboard = new Dashboard(this, 'Dashboard', { dashboardName: name, defaultInterval: Duration.hours(3) });
    this.dashboard.addWidgets(new AlarmStatusWidget({ title: pen.title('Alarms'), width: 24, height: 4, alarms: [...alarms] }));
    this.dashboard.addWidgets(operations(pen, monitored));
    this.dashboard.addWidgets(...backlog(pen, monitored, stage.lateSeconds));
    this.dashboard.addWidgets(...outcomes(pen));
    this.dashboard.addWidgets(...unclear(pen));
    this.dashboard.addWidgets(...progress(pen));
    if (stage.accountAlarms) this.dashboard.addWidgets(...account(pen));
    this.dashboard.addWidgets(...api(pen, monitored));
    this.dashboard.addWidgets(...functions(pen, monitored));
  }
}

/** Read only, whoever looks. A change of the time range means nothing to it: it shows how things stand now. */
const operations = ({ title }: Pen, { widget }: MonitoredResources): CustomWidget =>
  new CustomWidget({
    title: title('Operations: what is in trouble, and the story of one dispatch'),
    width: 24,
    height: 10,
    functionArn: widget.lambda.functionArn,
    updateOnRefresh: true,
    updateOnResize: false,
    updateOnTimeRangeChange: false,
  });

const backlog = (
  { graph, ownMetric }: Pen,
  { sends, tasks, feedback }: MonitoredResources,
  lateSeconds: number,
): GraphWidget[] => {
  const latest = { statistic: Stats.MAXIMUM, period: ONE_MINUTE };
  return [
    graph('Backlog', [
      sends.queue.metricApproximateNumberOfMessagesVisible({ ...latest, label: 'mails ready' }),
      sends.queue.metricApproximateNumberOfMessagesNotVisible({ ...latest, label: 'mails in hand, or waiting for an attempt' }),
      sends.queue.metricApproximateNumberOfMessagesDelayed({ ...latest, label: 'mails delayed' }),
      tasks.queue.metricApproximateNumberOfMessagesVisible({ ...latest, label: 'tasks ready' }),
      feedback.queue.metricApproximateNumberOfMessagesVisible({ ...latest, label: 'events ready' }),
    ]),
    graph(
      'Age, in seconds',
      [
        ownMetric('OldestPendingSeconds', Stats.MAXIMUM).with({ label: 'oldest recipient overdue' }),
        sends.queue.metricApproximateAgeOfOldestMessage({ ...latest, label: 'oldest message of a mail' }),
        feedback.queue.metricApproximateAgeOfOldestMessage({ ...latest, label: 'oldest event' }),
      ],
      { leftAnnotations: [{ value: lateSeconds, label: 'late' }] },
    ),
  ];
};

const outcomes = ({ graph, ownMetric, perMinute }: Pen): GraphWidget[] => [
  graph(
    'Outcomes a minute',
    perMinute('MailSent', 'MailFailed', 'AttemptsExhausted', 'AttemptRetried', 'AttemptThrottled', 'RecipientCancelled'),
  ),
  graph(
    'Accept to sent, in seconds',
    PERCENTILES.map((p) => ownMetric('AcceptToSentSeconds', Stats.percentile(p)).with({ label: `p${p}` })),
  ),
];

const unclear = ({ graph, ownMetric, perMinute }: Pen): GraphWidget[] => [
  graph('Answers that were lost, a minute', [
    ...perMinute(
      'OutcomeUnclear',
      'OutcomeConfirmed',
      'OutcomeConfirmedLate',
      'UnclearUnsent',
      'UnclearResent',
      'OutcomeUnknown',
      'DuplicateSent',
      'CanarySent',
      'CanaryRefused',
      'FeedbackBehind',
    ),
    ownMetric('UnclearWaiting', Stats.MAXIMUM, ONE_MINUTE).with({ label: 'unclear attempts that are open' }),
  ]),
  graph(
    'What SES tells, a minute',
    perMinute(
      'MailTaken',
      'MailDelivered',
      'MailDelayed',
      'MailBounced',
      'MailSoftBounced',
      'MailSuppressed',
      'MailComplained',
      'MailRejected',
      'MailNotRendered',
    ),
  ),
];

const progress = ({ graph, perMinute }: Pen): GraphWidget[] => [
  graph('Ends of dispatches, a minute', perMinute('DispatchCompleted', 'CancellationFinished', 'DispatchStopped')),
  graph(
    'Counting, and news for others, a minute',
    perMinute('EventsPublished', 'EventPublishFailed', 'ProgressRecounted', 'ProgressFailed'),
  ),
];

/** What all stages of an account and region share: one of them shows it. */
const account = ({ graph, ownMetric }: Pen): GraphWidget[] => {
  const limits = ({ warn, page }: { readonly warn: number; readonly page: number }) => [
    { value: warn, label: 'SES begins to watch' },
    { value: page, label: 'SES may soon pause' },
  ];
  const share = {
    width: QUARTER,
    leftYAxis: { min: 0, max: 1 },
    leftAnnotations: [{ value: NEARLY_USED, label: 'nearly used' }],
  };
  return [
    graph('Quota of 24 hours, used share', [ownMetric('QuotaUsedShare', Stats.MAXIMUM)], share),
    graph('Executions of Lambda in the account, used share', [concurrencyShare()], share),
    graph('Bounces, share', [reputation('BounceRate')], {
      width: QUARTER,
      leftAnnotations: limits(REPUTATION_LIMITS.bounces),
    }),
    graph('Complaints, share', [reputation('ComplaintRate')], {
      width: QUARTER,
      leftAnnotations: limits(REPUTATION_LIMITS.complaints),
    }),
  ];
};

const api = ({ graph }: Pen, { api: http }: MonitoredResources): GraphWidget[] => [
  graph('API: requests and errors a minute', [
    http.metricCount({ statistic: Stats.SUM, period: ONE_MINUTE }),
    http.metricClientError({ statistic: Stats.SUM, period: ONE_MINUTE }),
    http.metricServerError({ statistic: Stats.SUM, period: ONE_MINUTE }),
  ]),
  graph(
    'API: latency, in milliseconds',
    PERCENTILES.map((p) => http.metricLatency({ statistic: Stats.percentile(p), label: `p${p}` })),
  ),
];

const functions = ({ graph, ownMetric }: Pen, { functions: all, streams }: MonitoredResources): GraphWidget[] => [
  graph('Functions: errors a minute', [
    ...all.map(({ lambda, node }) => lambda.metricErrors({ label: node.id, period: ONE_MINUTE })),
    // The widget answers with a sentence instead of an error.
    ownMetric('ShowFailed', Stats.SUM, ONE_MINUTE).with({ label: 'pages that could not be shown' }),
  ]),
  graph(
    'Stream: age of the oldest record, in milliseconds',
    streams.map(({ consumer }) =>
      consumer.lambda.metric('IteratorAge', { label: consumer.node.id, statistic: Stats.MAXIMUM, period: ONE_MINUTE }),
    ),
  ),
];
