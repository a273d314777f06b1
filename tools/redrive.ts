// `npm run redrive`: moves the dead letters of the running local stack back to their queues.
import { parseArgs } from 'node:util';

import { SQSClient } from '@aws-sdk/client-sqs';

import { CREDENTIALS } from '../local/clients.ts';
import { REGION } from '../local/cloudformation/types/identity.ts';
import { redrive } from '../local/redrive/redrive.ts';
import { repairableQueues } from '../local/redrive/repairable-queues.ts';
import { findRunningStack } from '../local/redrive/running-stack.ts';

const run = async (): Promise<void> => {
  const { queue } = parseArgs({ options: { queue: { type: 'string' } } }).values;
  const stack = findRunningStack(process.env);
  const queues = Object.entries(repairableQueues(stack));
  const chosen = queues.filter(([name]) => queue === undefined || name === queue);
  if (chosen.length === 0) throw new Error(`--queue is one of ${queues.map(([name]) => name).join(', ')}`);

  const sqs = new SQSClient({ endpoint: stack.sqs, region: REGION, credentials: CREDENTIALS });
  for (const [name, urls] of chosen) console.log(`${name}: ${await redrive({ sqs, ...urls })} moved`);
};

run().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
