// `npm run verify:deployment`: checks a deployed stage, or the running local stack, from outside.
import { CHECKS } from './checks.ts';
import { explainError } from './explain-error.ts';
import { type Options, readOptions, USAGE, UsageError } from './options.ts';
import type { Target } from './target.ts';
import { openStage } from './targets/aws.ts';
import { openLocal } from './targets/local.ts';
import { NotDeployed } from './targets/stack-outputs.ts';
import { createWorld, type Screen, verify } from './verify.ts';
import type { World } from './world.ts';

const INTERRUPTED = 130;
/** npm forwards a Ctrl-C that the terminal has sent to this process as well. */
const SAME_MS = 1_000;

const ERASE_LINE = '\u001b[2K';

/** A terminal also shows which check is running; a log gets a line for each check that has ended. */
const screen: Screen = process.stdout.isTTY
  ? {
      print: (text) => process.stdout.write(`${ERASE_LINE}${text}\n`),
      running: (text) => process.stdout.write(`${ERASE_LINE}${text}\r`),
    }
  : {
      print: (text) => {
        console.log(text);
      },
      running: () => undefined,
    };

const openTarget = (options: Options): Target | Promise<Target> =>
  options.stage === undefined ? openLocal(options, process.env) : openStage(options.stage, options);

/** The first Ctrl-C ends the waits, and everything is put back; the second one ends the tool at once. */
const putBackOnSignals = (world: World, abort: () => void): void => {
  let abortedAt: number | undefined;
  const onSignal = () => {
    if (abortedAt !== undefined && Date.now() - abortedAt < SAME_MS) return;
    if (abortedAt !== undefined) {
      for (const { what, byHand } of world.cleanup.pending())
        console.error(`Left behind: ${what}. Put it back by hand: ${byHand}`);
      process.exit(INTERRUPTED);
    }
    abortedAt = Date.now();
    console.error('\nInterrupted: putting everything back. Ctrl-C again leaves it as it is.');
    abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
};

const run = async (): Promise<boolean> => {
  const options = readOptions(process.argv.slice(2), process.env);
  const target = await openTarget(options);
  const aborter = new AbortController();
  const world = createWorld(target, options, aborter.signal);
  putBackOnSignals(world, () => {
    aborter.abort();
  });
  const { good } = await verify(CHECKS, world, screen);
  target.close();
  return good;
};

const explain = (error: unknown): string => {
  if (error instanceof UsageError) return `${error.message}\n\n${USAGE}`;
  if (error instanceof NotDeployed) return error.message;
  const { saw, advice } = explainError(error);
  return `${saw}\n${advice}`;
};

run().then(
  (good) => {
    process.exit(good ? 0 : 1);
  },
  (error: unknown) => {
    console.error(explain(error));
    process.exit(1);
  },
);
