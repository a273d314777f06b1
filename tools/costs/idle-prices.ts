/** How sure a price is: read on AWS's own page, in another's list, or nowhere but in memory. */
export type PriceSource = 'AWS' | 'third party' | 'unchecked';

/** A price with where it comes from. */
export interface Price {
  /** Dollars in us-east-1. */
  readonly dollars: number;
  readonly source: PriceSource;
}

/** When the sources were read. */
export const PRICES_READ = 'November 2026';

/** Where each price stands; those of the second kind quote AWS's page, which itself shows prices only in a browser. */
export const PRICE_PAGES: Readonly<Record<Exclude<PriceSource, 'unchecked'>, readonly string[]>> = {
  AWS: ['https://aws.amazon.com/cloudwatch/pricing/', 'https://aws.amazon.com/lambda/pricing/'],
  'third party': [
    'https://c3x.dev/resources/aws/aws_cloudwatch_metric_alarm',
    'https://cal53.calculator.city/cloudwatch-custom-metrics-calculator/',
    'https://cloudburn.io/blog/aws-kms-pricing',
  ],
};

/** What is paid for by the month, whatever is sent. */
export const IDLE_PRICES = {
  alarmMetric: { dollars: 0.1, source: 'third party' },
  compositeAlarm: { dollars: 0.5, source: 'third party' },
  customMetric: { dollars: 0.3, source: 'third party' },
  dashboard: { dollars: 3, source: 'unchecked' },
  key: { dollars: 1, source: 'third party' },
  sqsRequest: { dollars: 0.4 / 1e6, source: 'unchecked' },
  lambdaGigabyteSecond: { dollars: 0.0000133334, source: 'AWS' },
  lambdaRequest: { dollars: 0.2 / 1e6, source: 'AWS' },
  dynamoDbReadUnit: { dollars: 0.125 / 1e6, source: 'unchecked' },
  logGigabyte: { dollars: 0.5, source: 'unchecked' },
  tableGigabyteMonth: { dollars: 0.25, source: 'unchecked' },
  recoveryGigabyteMonth: { dollars: 0.2, source: 'unchecked' },
} as const satisfies Readonly<Record<string, Price>>;

/** Of an account, for all that runs in it. */
export const FREE = {
  alarmMetrics: 10,
  dashboards: 3,
  metricsPerDashboard: 50,
  customMetrics: 10,
  sqsRequests: 1_000_000,
} as const;
