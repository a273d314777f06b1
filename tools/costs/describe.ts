import type { FunctionTime, LambdaCost } from './lambda-cost.ts';
import { PRICES } from './price-list.ts';

/** What was counted while a dispatch was sent. */
export interface Requests {
  readonly dynamodb: Readonly<Record<string, { readonly calls: number; readonly units: number }>>;
  readonly sqs: Readonly<Record<string, number>>;
  readonly ses: Readonly<Record<string, number>>;
  readonly events: Readonly<Record<string, number>>;
}

const READS = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan', 'TransactGetItems']);

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Units and requests of a run. */
export const totalsOf = ({ dynamodb, sqs }: Requests) => {
  const unitsOf = (isRead: boolean): number =>
    sum(Object.entries(dynamodb).flatMap(([name, { units }]) => (READS.has(name) === isRead ? [units] : [])));
  const { EmptyReceive = 0, ...requests } = sqs;
  return { reads: unitsOf(true), writes: unitsOf(false), sqs: sum(Object.values(requests)), emptyReceives: EmptyReceive };
};

/** What one dispatch asked of AWS, as a table. */
export const describeRequests = (counted: Requests, mails: number): string => {
  const row = (label: string, total: number): string =>
    `${label.padEnd(46)}${total.toFixed(total % 1 === 0 ? 0 : 1).padStart(10)}${(total / mails).toFixed(3).padStart(12)}`;
  const { reads, writes, sqs, emptyReceives } = totalsOf(counted);
  const operations = Object.entries(counted.dynamodb).filter(([, { units }]) => units > 0);
  const rowsOf = (isRead: boolean) =>
    operations.flatMap(([name, { calls, units }]) =>
      READS.has(name) === isRead ? [row(`  ${name} (${calls} calls)`, units)] : [],
    );
  const requests = Object.entries(counted.sqs).filter(([name]) => name !== 'EmptyReceive');
  return [
    `${`One dispatch of ${mails.toLocaleString('en-US')}`.padEnd(46)}${'total'.padStart(10)}${'per mail'.padStart(12)}`,
    '-'.repeat(68),
    row('DynamoDB write units', writes),
    ...rowsOf(false),
    row('DynamoDB read units', reads),
    ...rowsOf(true),
    row('SQS requests, empty receives left out', sqs),
    ...requests.map(([name, count]) => row(`  ${name}`, count)),
    row('SQS receives that brought nothing', emptyReceives),
    row('SES calls', sum(Object.values(counted.ses))),
    ...Object.entries(counted.ses).map(([name, count]) => row(`  ${name}`, count)),
    row('EventBridge calls', sum(Object.values(counted.events))),
  ].join('\n');
};

/** What a million mails cost at one rate: Lambda by function, and the rest. */
export interface RateCosts {
  readonly maxSendRate: number;
  readonly functions: Readonly<Record<string, LambdaCost & { readonly memoryMegabytes: number }>>;
}

/** Dollars for Lambda in all. */
export const lambdaDollars = ({ functions }: RateCosts): number => sum(Object.values(functions).map(({ dollars }) => dollars));

/** Two events of SES for a mail that is delivered. */
const EVENTS = 2;

/** Dollars for a million mails at one rate, as a table. */
export const describeRate = (costs: RateCosts, counted: Requests, mails: number): string => {
  const line = (label: string, gigabyteSeconds: string, requests: string, dollars: number): string =>
    `${label.padEnd(30)}${gigabyteSeconds.padStart(14)}${requests.padStart(14)}${dollars.toFixed(3).padStart(10)}`;
  const whole = (n: number): string => Math.round(n).toLocaleString('en-US');
  const { reads, writes, sqs } = totalsOf(counted);
  const millions = (count: number): number => (count / mails) * 1e6;
  return [
    `${`A million mails at ${costs.maxSendRate}/s`.padEnd(30)}${'GB-seconds'.padStart(14)}${'requests'.padStart(14)}${'dollars'.padStart(10)}`,
    '-'.repeat(68),
    ...Object.entries(costs.functions).map(([name, { gigabyteSeconds, requests, dollars, memoryMegabytes }]) =>
      line(`${name} (${memoryMegabytes} MB)`, whole(gigabyteSeconds), whole(requests), dollars),
    ),
    line('Lambda in all', '', '', lambdaDollars(costs)),
    line('DynamoDB writes', '', whole(millions(writes)), millions(writes) * PRICES.dynamoDbWriteUnit),
    line('DynamoDB reads', '', whole(millions(reads)), millions(reads) * PRICES.dynamoDbReadUnit),
    line('SQS', '', whole(millions(sqs)), millions(sqs) * PRICES.sqsRequest),
    line('SNS', '', whole(EVENTS * 1e6), EVENTS * 1e6 * PRICES.snsPublish),
    line('SES', '', whole(1e6), 1e6 * PRICES.sesMail),
  ].join('\n');
};

interface Timed {
  readonly mails: number;
  readonly counted: { readonly functions: Readonly<Record<string, FunctionTime>> };
}

/** What was measured of the functions in each run. */
export const describeTimes = (names: readonly string[], runs: Readonly<Record<string, Timed>>): string => {
  const line = (label: string, ...cells: readonly string[]): string =>
    `${label.padEnd(30)}${cells.map((cell) => cell.padStart(13)).join('')}`;
  return Object.entries(runs)
    .flatMap(([title, { mails, counted }]) => [
      line(`Measured ${title}`, 'calls a mail', 'ms a mail', 'processor ms'),
      '-'.repeat(69),
      ...names.map((name) => {
        const { invocations = 0, milliseconds = 0, processorMilliseconds = 0 } = counted.functions[`${name}-function`] ?? {};
        const perMail = (n: number, digits: number): string => (n / mails).toFixed(digits);
        return line(name, perMail(invocations, 3), perMail(milliseconds, 2), perMail(processorMilliseconds, 2));
      }),
    ])
    .join('\n');
};
