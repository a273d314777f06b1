// `npm run costs`: what one dispatch of 1,000 costs in requests and units, counted at the emulators' doors.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod';

import { CREDENTIALS } from './clients.ts';
import { launchStack } from './launch.ts';
import { openTable } from './ordeal/table.ts';
import { ROOT } from './settings.ts';
import type { StackFile } from './stack-file.ts';
import { REGION } from './template/identity.ts';

const RECIPIENTS = 1_000;
const PATIENCE_MS = 180_000;

const Sample = z.looseObject({ recipients: z.array(z.looseObject({ applyId: z.string(), email: z.string() })) });
const Answer = z.object({ id: z.string() });
const Counts = z.object({
  dynamodb: z.record(z.string(), z.object({ calls: z.number(), units: z.number() })),
  sqs: z.record(z.string(), z.number()),
  ses: z.record(z.string(), z.number()),
  events: z.record(z.string(), z.number()),
});
/** Progress counts what the stream tells, after everything else. */
const Counted = z.looseObject({
  status: z.string(),
  counts: z.looseObject({ SENT: z.number() }),
  deliveries: z.looseObject({ delivered: z.number() }),
});
const WAITING = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const;
const READS = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan', 'TransactGetItems']);

const makeBody = (): string => {
  const content: unknown = JSON.parse(readFileSync(join(ROOT, 'local/samples/two-hundred.json'), 'utf8'));
  const sample = Sample.parse(content);
  const recipients = Array.from({ length: RECIPIENTS }, (_, n) => ({
    ...sample.recipients[n % sample.recipients.length],
    applyId: `apply-${n}`,
    email: `recipient-${n}@example.com`,
  }));
  return JSON.stringify({ ...sample, recipients });
};

const readCounts = async ({ counts = '' }: StackFile) => Counts.parse(await (await fetch(counts)).json());

/** @returns the dispatch's id */
const post = async ({ api, tokens }: StackFile): Promise<string> => {
  const response = await fetch(`${api}/dispatches`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokens.admin}`,
      'content-type': 'application/json',
      'idempotency-key': 'costs',
    },
    body: makeBody(),
  });
  if (response.status !== 202) throw new Error(`the dispatch was answered ${response.status}: ${await response.text()}`);
  return Answer.parse(await response.json()).id;
};

/** Sent, delivered and counted, and nothing left in the queues: asked past the doors, so that asking is not counted. */
const waitUntilOver = async (stack: StackFile, id: string): Promise<void> => {
  const sqs = new SQSClient({ endpoint: stack.sqs, region: REGION, credentials: CREDENTIALS });
  const table = openTable(stack);
  const isEmpty = async (QueueUrl: string): Promise<boolean> => {
    const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    return WAITING.every((name) => Attributes[name] === '0');
  };
  const isOver = async (): Promise<boolean> => {
    const { status, counts, deliveries } = Counted.parse(await table.dispatch(id));
    const isCounted = status === 'COMPLETED' && counts.SENT === RECIPIENTS && deliveries.delivered === RECIPIENTS;
    return isCounted && (await isEmpty(stack.queueUrl)) && (await isEmpty(stack.feedbackQueueUrl));
  };
  const until = Date.now() + PATIENCE_MS;
  while (!(await isOver())) {
    if (Date.now() > until) throw new Error(`not all of ${RECIPIENTS} mails were sent in ${PATIENCE_MS / 1000} s`);
    await new Promise((done) => setTimeout(done, 500));
  }
  table.close();
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const row = (label: string, total: number): string =>
  `${label.padEnd(46)}${total.toFixed(total % 1 === 0 ? 0 : 1).padStart(10)}${(total / RECIPIENTS).toFixed(3).padStart(12)}`;

const describe = ({ dynamodb, sqs, ses, events }: z.output<typeof Counts>): string => {
  const operations = Object.entries(dynamodb).filter(([, { units }]) => units > 0);
  const writes = operations.filter(([name]) => !READS.has(name));
  const reads = operations.filter(([name]) => READS.has(name));
  const unitsOf = (list: typeof operations) => sum(list.map(([, { units }]) => units));
  const { EmptyReceive = 0, ...requests } = sqs;
  return [
    `${'One dispatch of 1,000'.padEnd(46)}${'total'.padStart(10)}${'per mail'.padStart(12)}`,
    '-'.repeat(68),
    row('DynamoDB write units', unitsOf(writes)),
    ...writes.map(([name, { calls, units }]) => row(`  ${name} (${calls} calls)`, units)),
    row('DynamoDB read units', unitsOf(reads)),
    ...reads.map(([name, { calls, units }]) => row(`  ${name} (${calls} calls)`, units)),
    row('SQS requests, empty receives left out', sum(Object.values(requests))),
    ...Object.entries(requests).map(([name, count]) => row(`  ${name}`, count)),
    row('SQS receives that brought nothing', EmptyReceive),
    row('SES calls', sum(Object.values(ses))),
    ...Object.entries(ses).map(([name, count]) => row(`  ${name}`, count)),
    row('EventBridge calls', sum(Object.values(events))),
  ].join('\n');
};

const run = async (): Promise<void> => {
  const directory = mkdtempSync(join(tmpdir(), 'mail-dispatch-costs-'));
  const stack = await launchStack(directory, { COUNT_REQUESTS: '1' });
  try {
    await waitUntilOver(stack.description, await post(stack.description));
    console.log(describe(await readCounts(stack.description)));
  } finally {
    await stack.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};

run().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
