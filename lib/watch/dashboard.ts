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

import { ONE_MINUTE, ownMetric, reputation } from './metrics.ts';
import { REPUTATION_LIMITS } from './reputation-alarms.ts';
import type { Watched } from './watched.ts';

export interface ServiceDashboardProps {
  readonly watched: Watched;
  readonly alarms: readonly Alarm[];
  /** A mail that waits longer is late. */
  readonly lateSeconds: number;
}

/** The dashboard is 24 columns wide. */
const HALF = 12;
const THIRD = 8;

const graph = (title: string, left: readonly IMetric[], more: Omit<GraphWidgetProps, 'title' | 'left'> = {}): GraphWidget =>
  new GraphWidget({ width: HALF, height: 6, leftYAxis: { min: 0 }, title, left: [...left], ...more });

/** How often each of these happened in a minute. */
const perMinute = (...names: readonly string[]): IMetric[] => names.map((name) => ownMetric(name, Stats.SUM, ONE_MINUTE));

const PERCENTILES = [50, 95, 99];

/** What a person wants to see at one glance: is it moving, how fast, what becomes of mails, and what holds them up. */
export class ServiceDashboard extends Construct {
  readonly dashboard: Dashboard;

  constructor(scope: Construct, id: string, { watched, alarms, lateSeconds }: ServiceDashboardProps) {
    super(scope, id);
    this.dashboard = new Dashboard(this, 'Dashboard', { defaultInterval: Duration.hours(3) });
    this.dashboard.addWidgets(new AlarmStatusWidget({ title: 'Alarms', width: 24, height: 4, alarms: [...alarms] }));
    this.dashboard.addWidgets(operations(watched));
    this.dashboard.addWidgets(...backlog(watched, lateSeconds));
    this.dashboard.addWidgets(...outcomes());
    this.dashboard.addWidgets(...unclear());
    this.dashboard.addWidgets(...progress());
    this.dashboard.addWidgets(...account());
    this.dashboard.addWidgets(...api(watched));
    this.dashboard.addWidgets(...functions(watched));
  }
}

/** Read only, whoever looks. A change of the time range means nothing to it: it shows how things stand now. */
const operations = ({ widget }: Watched): CustomWidget =>
  new CustomWidget({
    title: 'Operations: what is in trouble, and the story of one dispatch',
    width: 24,
    height: 10,
    functionArn: widget.lambda.functionArn,
    updateOnRefresh: true,
    updateOnResize: false,
    updateOnTimeRangeChange: false,
  });

const backlog = ({ sends, tasks, feedback }: Watched, lateSeconds: number): GraphWidget[] => {
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

const outcomes = (): GraphWidget[] => [
  graph(
    'Outcomes a minute',
    perMinute('MailSent', 'MailFailed', 'AttemptsExhausted', 'AttemptRetried', 'AttemptThrottled', 'RecipientCancelled'),
  ),
  graph(
    'Accept to sent, in seconds',
    PERCENTILES.map((p) => ownMetric('AcceptToSentSeconds', Stats.percentile(p)).with({ label: `p${p}` })),
  ),
];

const unclear = (): GraphWidget[] => [
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

const progress = (): GraphWidget[] => [
  graph('Ends of dispatches, a minute', perMinute('DispatchCompleted', 'DispatchClosed', 'DispatchStopped')),
  graph(
    'Counting, and news for others, a minute',
    perMinute('NewsPublished', 'NewsFailed', 'ProgressRecounted', 'ProgressFailed'),
  ),
];

const account = (): GraphWidget[] => {
  const limits = ({ warn, page }: { readonly warn: number; readonly page: number }) => [
    { value: warn, label: 'SES begins to watch' },
    { value: page, label: 'SES may soon pause' },
  ];
  return [
    graph('Quota of 24 hours, used share', [ownMetric('QuotaUsedShare', Stats.MAXIMUM)], {
      width: THIRD,
      leftYAxis: { min: 0, max: 1 },
      leftAnnotations: [{ value: 0.8, label: 'nearly used' }],
    }),
    graph('Bounces, share', [reputation('BounceRate')], {
      width: THIRD,
      leftAnnotations: limits(REPUTATION_LIMITS.bounces),
    }),
    graph('Complaints, share', [reputation('ComplaintRate')], {
      width: THIRD,
      leftAnnotations: limits(REPUTATION_LIMITS.complaints),
    }),
  ];
};

const api = ({ api: http }: Watched): GraphWidget[] => [
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

const functions = ({ functions: all, streams }: Watched): GraphWidget[] => [
  graph('Functions: errors a minute', [
    ...all.map(({ lambda, node }) => lambda.metricErrors({ label: node.id, period: ONE_MINUTE })),
    // The widget answers with a sentence instead of an error.
    ownMetric('ShowFailed', Stats.SUM, ONE_MINUTE).with({ label: 'pages that could not be shown' }),
  ]),
  graph(
    'Stream: age of the oldest record, in milliseconds',
    streams.map(({ follower }) =>
      follower.lambda.metric('IteratorAge', { label: follower.node.id, statistic: Stats.MAXIMUM, period: ONE_MINUTE }),
    ),
  ),
];
