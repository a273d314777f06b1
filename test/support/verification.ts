import { CHECKS } from '../../tools/verify-deployment/checks.ts';
import type { Options } from '../../tools/verify-deployment/options.ts';
import { describeEnd } from '../../tools/verify-deployment/report.ts';
import type { Result } from '../../tools/verify-deployment/run-checks.ts';
import type { Target } from '../../tools/verify-deployment/target.ts';
import { createWorld, verify } from '../../tools/verify-deployment/verify.ts';

/** What a person gets who asks for nothing special. */
export const someOptions = (given: Partial<Options> = {}): Options => ({
  stage: undefined,
  yes: true,
  inUse: false,
  large: 'cancel',
  largeCount: 50_000,
  redrive: true,
  allowSandbox: false,
  waitSeconds: 60,
  only: [],
  templatePrefix: undefined,
  token: undefined,
  operatorToken: undefined,
  ...given,
});

/** Runs some checks by their ids, without those that they need. @param sendSeconds how long mails may take, if not as in the options */
export const verifyOnly = async (target: Target, ids: readonly string[], given: Partial<Options> = {}, sendSeconds?: number) => {
  const checks = ids.flatMap((id) => CHECKS.filter((check) => check.id === id));
  const world = createWorld(target, someOptions(given), new AbortController().signal);
  const numbers = async () => {
    const scaled = await world.numbers();
    return sendSeconds === undefined ? scaled : { ...scaled, secondsToSend: () => sendSeconds };
  };
  return verify(
    checks,
    { ...world, numbers },
    {
      print: () => undefined,
      running: () => undefined,
    },
  );
};

/** Prints what the tool says about something that is broken on purpose. */
export const printBroken = (what: string, results: readonly Result[]): void => {
  process.stdout.write(`\n[broken on purpose: ${what}]\n${describeEnd(results, [])}\n`);
};
