import { FREE, IDLE_PRICES, type Price } from './idle-prices.ts';

/** What of a stage's templates costs something by the month. */
export interface IdleCounts {
  /** Alarms, and the metrics that they read: each is paid for. */
  readonly alarms: number;
  readonly alarmMetrics: number;
  readonly compositeAlarms: number;
  readonly keys: number;
  readonly dashboards: number;
  /** Different metrics on the largest dashboard. */
  readonly dashboardMetrics: number;
  /** Different metrics of our own that functions write when nothing is sent, and all that there are. */
  readonly idleCustomMetrics: number;
  readonly customMetrics: number;
  /** Queues with an event source mapping: Lambda asks them all the time. */
  readonly polledQueues: number;
  readonly queues: number;
  /** Runs a month of each scheduled function, and its memory. */
  readonly schedules: readonly { readonly name: string; readonly runs: number; readonly memoryMegabytes: number }[];
}

/** Of a month with 30 days. */
export const MONTH_MINUTES = 30 * 24 * 60;

/** Lambda's pollers of a queue while nothing comes, and how long each of their requests waits: "Using Lambda with Amazon SQS". */
const POLLERS = 5;
const POLL_SECONDS = 20;

/** Of a run in which there is nothing to do: assumed, and rather too much. */
const IDLE_RUN = { seconds: 0.3, readUnits: 12, logBytes: 1_500 } as const;

interface Row {
  readonly what: string;
  readonly count: string;
  readonly price: Price;
  readonly per: string;
  readonly dollars: number;
}

const inWords = (n: number): string => n.toLocaleString('en-US', { maximumFractionDigits: 2 });
const beyond = (count: number, free: number): number => Math.max(0, count - free);

const scheduleRow = ({ name, runs, memoryMegabytes }: IdleCounts['schedules'][number]): Row => {
  const { lambdaGigabyteSecond, lambdaRequest, dynamoDbReadUnit, logGigabyte } = IDLE_PRICES;
  const dollars =
    runs *
    (((IDLE_RUN.seconds * memoryMegabytes) / 1_024) * lambdaGigabyteSecond.dollars +
      lambdaRequest.dollars +
      IDLE_RUN.readUnits * dynamoDbReadUnit.dollars +
      (IDLE_RUN.logBytes / 1e9) * logGigabyte.dollars);
  const what = `runs of ${name} (${memoryMegabytes} MB, ${IDLE_RUN.seconds} s, ${IDLE_RUN.readUnits} read units, ${inWords(IDLE_RUN.logBytes)} bytes of logs)`;
  return { what, count: inWords(runs), price: lambdaGigabyteSecond, per: 'GB-second', dollars };
};

const rowsOf = (counts: IdleCounts): Row[] => {
  const polls = counts.polledQueues * POLLERS * ((MONTH_MINUTES * 60) / POLL_SECONDS);
  const dashboards = counts.dashboardMetrics > FREE.metricsPerDashboard ? counts.dashboards : 0;
  const each = (what: string, count: number, price: Price, per: string): Row => ({
    what,
    count: inWords(count),
    price,
    per,
    dollars: count * price.dollars,
  });
  return [
    each(`metrics of ${counts.alarms} alarms`, counts.alarmMetrics, IDLE_PRICES.alarmMetric, 'alarm metric'),
    each('composite alarms', counts.compositeAlarms, IDLE_PRICES.compositeAlarm, 'composite alarm'),
    each('custom metrics that the scheduled functions write', counts.idleCustomMetrics, IDLE_PRICES.customMetric, 'metric'),
    each(
      `dashboards with more than ${FREE.metricsPerDashboard} metrics (the largest has ${counts.dashboardMetrics})`,
      dashboards,
      IDLE_PRICES.dashboard,
      'dashboard',
    ),
    each('KMS keys', counts.keys, IDLE_PRICES.key, 'key'),
    {
      what: `requests by which Lambda polls ${counts.polledQueues} of ${counts.queues} queues`,
      count: inWords(polls),
      price: IDLE_PRICES.sqsRequest,
      per: 'request',
      dollars: polls * IDLE_PRICES.sqsRequest.dollars,
    },
    ...counts.schedules.map(scheduleRow),
    each('GB of the table', 1, IDLE_PRICES.tableGigabyteMonth, 'GB'),
    each('GB of the table under point-in-time recovery', 1, IDLE_PRICES.recoveryGigabyteMonth, 'GB'),
  ];
};

const freeDollars = (counts: IdleCounts): number =>
  Math.min(FREE.alarmMetrics, counts.alarmMetrics) * IDLE_PRICES.alarmMetric.dollars +
  Math.min(FREE.customMetrics, counts.idleCustomMetrics) * IDLE_PRICES.customMetric.dollars +
  FREE.sqsRequests * IDLE_PRICES.sqsRequest.dollars;

const money = (dollars: number): string => dollars.toFixed(2);

const priceText = ({ dollars }: Price): string => (dollars < 0.01 ? `${inWords(dollars * 1e6)} per million` : money(dollars));

/** The table of docs/costs.md, and the sentences under it. */
export const describeIdle = (counts: IdleCounts): string => {
  const rows = rowsOf(counts);
  const total = rows.reduce((sum, { dollars }) => sum + dollars, 0);
  const more = beyond(counts.customMetrics, counts.idleCustomMetrics);
  return [
    '| | how many | at dollars | per | source of the price | dollars a month |',
    '|---|---|---|---|---|---|',
    ...rows.map(
      ({ what, count, price, per, dollars }) =>
        `| ${[what, count, priceText(price), per, price.source, dollars < 0.005 ? 'under 0.01' : money(dollars)].join(' | ')} |`,
    ),
    '',
    `Together ${money(total)} dollars a month. An account in which nothing else runs pays ${money(freeDollars(counts))} less: ` +
      `${FREE.alarmMetrics} alarm metrics, ${FREE.customMetrics} custom metrics and ${inWords(FREE.sqsRequests)} requests to SQS are free.`,
    '',
    `In a month in which everything happens, mails, trouble and deployments, all ${counts.customMetrics} custom metrics have values: ` +
      `up to ${money(more * IDLE_PRICES.customMetric.dollars)} dollars more. A metric is paid for by the hour in which it has a value.`,
  ].join('\n');
};
