import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod';

import { launchStack } from '../../local/cli/launch.ts';
import { CREDENTIALS } from '../../local/clients.ts';
import { REGION } from '../../local/cloudformation/types/identity.ts';
import { ROOT } from '../../local/settings.ts';
import type { StackFile } from '../../local/stack-file.ts';
import { openTable } from '../../local/table-rows.ts';

const PATIENCE_MS = 180_000;

const Sample = z.looseObject({ recipients: z.array(z.looseObject({ applyId: z.string(), email: z.string() })) });
const Answer = z.object({ id: z.string() });
const Counts = z.object({
  dynamodb: z.record(z.string(), z.object({ calls: z.number(), units: z.number() })),
  sqs: z.record(z.string(), z.number()),
  ses: z.record(z.string(), z.number()),
  events: z.record(z.string(), z.number()),
  functions: z.record(
    z.string(),
    z.object({
      invocations: z.number(),
      milliseconds: z.number(),
      processorMilliseconds: z.number(),
      memoryMegabytes: z.number(),
    }),
  ),
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
const makeBody = (mails: number): string => {
  const content: unknown = JSON.parse(readFileSync(join(ROOT, 'local/samples/two-hundred.json'), 'utf8'));
  const sample = Sample.parse(content);
  const recipients = Array.from({ length: mails }, (_, n) => ({
    ...sample.recipients[n % sample.recipients.length],
    applyId: `apply-${n}`,
    email: `recipient-${n}@example.com`,
  }));
  return JSON.stringify({ ...sample, recipients });
};

const readCounts = async ({ counts = '' }: StackFile) => Counts.parse(await (await fetch(counts)).json());

/** @returns the dispatch's id */
const post = async ({ api, tokens }: StackFile, mails: number): Promise<string> => {
  const response = await fetch(`${api}/dispatches`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokens.admin}`,
      'content-type': 'application/json',
      'idempotency-key': 'costs',
    },
    body: makeBody(mails),
  });
  if (response.status !== 202) throw new Error(`the dispatch was answered ${response.status}: ${await response.text()}`);
  return Answer.parse(await response.json()).id;
};

/** Sent, delivered and counted, and nothing left in the queues: asked past the proxies, so that asking is not counted. */
const waitUntilOver = async (stack: StackFile, id: string, mails: number): Promise<void> => {
  const sqs = new SQSClient({ endpoint: stack.sqs, region: REGION, credentials: CREDENTIALS });
  const table = openTable(stack);
  const isEmpty = async (QueueUrl: string): Promise<boolean> => {
    const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    return WAITING.every((name) => Attributes[name] === '0');
  };
  const isOver = async (): Promise<boolean> => {
    const { status, counts, deliveries } = Counted.parse(await table.dispatch(id));
    const isCounted = status === 'COMPLETED' && counts.SENT === mails && deliveries.delivered === mails;
    return isCounted && (await isEmpty(stack.queueUrl)) && (await isEmpty(stack.feedbackQueueUrl));
  };
  const until = Date.now() + PATIENCE_MS;
  while (!(await isOver())) {
    if (Date.now() > until) throw new Error(`not all of ${mails} mails were sent in ${PATIENCE_MS / 1000} s`);
    await new Promise((done) => setTimeout(done, 500));
  }
  table.close();
};

/** What a run used. */
export interface Run {
  readonly mails: number;
  readonly counted: z.output<typeof Counts>;
}

/** Sends one dispatch on a stack of its own and counts. @param environment settings of the stack */
export const measureRun = async (mails: number, environment: Readonly<Record<string, string>>): Promise<Run> => {
  const directory = mkdtempSync(join(tmpdir(), 'mail-dispatch-costs-'));
  const stack = await launchStack(directory, { LOCAL_HOOKS: join(ROOT, 'tools/costs/counts/hooks.ts'), ...environment });
  try {
    await waitUntilOver(stack.description, await post(stack.description, mails), mails);
    return { mails, counted: await readCounts(stack.description) };
  } finally {
    await stack.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};
