import { randomBytes } from 'node:crypto';

import { createApi } from './api.ts';
import type { Check } from './check.ts';
import { readAccount } from './checks/ses-account.ts';
import { createCleanup, type Leftover } from './cleanup.ts';
import { createDispatches } from './dispatches.ts';
import { type Numbers, scaleTo } from './numbers.ts';
import type { Options } from './options.ts';
import { readDepth, totalOf } from './queue-depth.ts';
import { bullets, describeEnd, describeResult, isGood } from './report.ts';
import { chooseChecks, type Result, runChecks } from './run-checks.ts';
import { decideStart, describePlan, type Traffic } from './start-decision.ts';
import type { Target } from './target.ts';
import { Listed } from './views.ts';
import { createWaiting } from './waiting.ts';
import type { World } from './world.ts';

/** What SES gives a new account: what is assumed while it cannot be asked. */
const SMALLEST_ACCOUNT = {
  production: false,
  sendingEnabled: true,
  enforcement: 'HEALTHY',
  rate: 1,
  perDay: 200,
  sentToday: 0,
};

/** Makes what the checks of one run work with. */
export const createWorld = (target: Target, options: Options, signal: AbortSignal): World => {
  const runId = randomBytes(4).toString('hex');
  const waiting = createWaiting(signal);
  const api = createApi(target.api, target.tokens, waiting, options.waitSeconds);
  const cleanup = createCleanup();
  let numbers: Promise<Numbers> | undefined;
  return {
    runId,
    target,
    options,
    api,
    waiting,
    cleanup,
    dispatches: createDispatches(api, cleanup, runId),
    numbers: () => {
      numbers ??= readAccount(target.ses).then(
        (facts) => scaleTo(facts, options.waitSeconds),
        () => scaleTo(SMALLEST_ACCOUNT, options.waitSeconds),
      );
      return numbers;
    },
  };
};

const orUndefined = async <T>(ask: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await ask();
  } catch {
    return undefined;
  }
};

const UNFINISHED = new Set(['ACCEPTED', 'IN_PROGRESS']);

const readTraffic = async ({ target, api }: World): Promise<Traffic> => ({
  messages: await orUndefined(async () => totalOf(await readDepth(target.sqs, target.queues.send))),
  openDispatches: await orUndefined(async () => {
    const { dispatches } = await api.read('/dispatches?open=true&limit=100', Listed, { as: 'operator' });
    return dispatches.filter(({ status }) => UNFINISHED.has(status)).length;
  }),
});

/** How a run ended. */
export interface Verdict {
  readonly good: boolean;
  readonly results: readonly Result[];
  readonly left: readonly Leftover[];
}

/** Where a run is shown. */
export interface Screen {
  readonly print: (text: string) => void;
  /** What goes on now, until the next line is printed. */
  readonly running: (text: string) => void;
}

const NOT_STARTED: Verdict = { good: false, results: [], left: [] };

/** Says what will be done, runs the checks, puts everything back, and says how it ended. */
export const verify = async (checks: readonly Check[], world: World, screen: Screen): Promise<Verdict> => {
  const { print } = screen;
  const { target, options, cleanup } = world;
  const chosen = chooseChecks(checks, options.only);
  const { many } = await world.numbers();
  print(`Verification of ${target.name}, run ${world.runId}. It will:`);
  print(bullets(describePlan(chosen, options, many)));
  const decision = decideStart(options, await readTraffic(world), chosen);
  if (!decision.start) {
    print(`\n${decision.say}`);
    return NOT_STARTED;
  }
  print('');
  const observe = {
    started: ({ name }: Check) => {
      screen.running(`  running  ${name}`);
    },
    ended: (result: Result) => {
      print(describeResult(result));
    },
  };
  const results = await runChecks(chosen, world, observe);
  const left = await cleanup.run();
  print(`\n${describeEnd(results, left)}`);
  return { good: isGood(results, left), results, left };
};
