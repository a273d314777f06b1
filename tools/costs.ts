// `npm run costs`: what one dispatch costs in requests and units, counted at the emulators' doors, and what a million mails
// cost in dollars at 14 and at 500 a second.
import { serviceScale } from '../lib/config/scale/service-scale.ts';
import { describeRate, describeRequests, describeTimes, type RateCosts } from './costs/describe.ts';
import {
  type FunctionTime,
  type LambdaCost,
  pacedCost,
  plannedCost,
  waitOfCall,
  waitOfMail,
  workCost,
} from './costs/lambda-cost.ts';
import { measureRun, type Run } from './costs/measure.ts';

const MAILS = 1_000;
/** Enough for half a minute at the pace. */
const SLOW_MAILS = 400;
const SLOW_RATE = 14;
const FAST_RATE = 500;

/** Functions that work for each mail; the scheduled ones cost the same whatever is sent. */
const NAMES = ['accept-dispatch', 'relay-outbox', 'run-task', 'send-recipients', 'apply-feedback', 'follow-progress'];

const timeOf = ({ counted }: Run, name: string): FunctionTime => {
  const time = counted.functions[`${name}-function`];
  if (time === undefined) throw new Error(`nothing was measured of ${name}`);
  return time;
};

/** Of one run batches are full, as the batching window of feedback fills them on AWS; the other leaves the machine idle. */
interface Runs {
  readonly fast: Run;
  readonly slow: Run;
}

/** Costs at a rate. @param own the run whose batches are like those at that rate */
const costsAt = (maxSendRate: number, own: Run, { fast, slow }: Runs, ofSenders: (memory: number) => LambdaCost): RateCosts => {
  const { sender, feedback } = serviceScale({ maxSendRate, rateShare: 0.9 });
  const costOf = (name: string): LambdaCost & { readonly memoryMegabytes: number } => {
    if (name === 'send-recipients') return { ...ofSenders(sender.memoryMegabytes), memoryMegabytes: sender.memoryMegabytes };
    const idle = timeOf(slow, name);
    if (name === 'apply-feedback') {
      const time = timeOf(fast, name);
      const waitMs = (waitOfCall(idle) * time.invocations) / fast.mails;
      const { memoryMegabytes } = feedback;
      return { ...workCost(time, fast.mails, waitMs, memoryMegabytes), memoryMegabytes };
    }
    const time = timeOf(own, name);
    const { memoryMegabytes } = time;
    return { ...workCost(time, own.mails, waitOfMail(idle, slow.mails), memoryMegabytes), memoryMegabytes };
  };
  return { maxSendRate, functions: Object.fromEntries(NAMES.map((name) => [name, costOf(name)])) };
};

const run = async (): Promise<void> => {
  const fast = await measureRun(MAILS, { PROGRESS_WINDOW_SECONDS: '1' });
  console.log(describeRequests(fast.counted, fast.mails));

  const { sender } = serviceScale({ maxSendRate: SLOW_RATE, rateShare: 0.9 });
  const slow = await measureRun(SLOW_MAILS, {
    LOCAL_SES_RATE: String(SLOW_RATE),
    MAX_SEND_RATE: String(SLOW_RATE),
    MAX_CONCURRENCY: String(sender.concurrency),
    PARALLEL_CALLS: String(sender.parallelCalls),
    PROGRESS_WINDOW_SECONDS: '1',
  });
  const slowCosts = costsAt(SLOW_RATE, slow, { fast, slow }, (memory) =>
    pacedCost(timeOf(slow, 'send-recipients'), slow.mails, memory),
  );
  console.log(`\n${describeRate(slowCosts, slow.counted, slow.mails)}`);

  const { rate, sender: senders } = serviceScale({ maxSendRate: FAST_RATE, rateShare: 0.9 });
  const fastCosts = costsAt(FAST_RATE, fast, { fast, slow }, () =>
    plannedCost(timeOf(fast, 'send-recipients'), fast.mails, rate, senders),
  );
  console.log(`\n${describeRate(fastCosts, fast.counted, fast.mails)}`);
  console.log(`\n${describeTimes(NAMES, { 'as fast as it goes': fast, [`at ${SLOW_RATE}/s`]: slow })}`);
  console.log(
    `\nSenders at ${SLOW_RATE}/s are measured at that pace. Senders at ${FAST_RATE}/s are calculated: all of them, all the time.` +
      '\nThe others have the processor time of the run with full batches, and wait as in the one that leaves the machine idle.' +
      '\nThe processor time of this machine counts as that of a whole processor of Lambda. Prices: tools/costs/price-list.ts.',
  );
};

run().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
