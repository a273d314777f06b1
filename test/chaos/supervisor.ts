import { setTimeout as sleep } from 'node:timers/promises';

import { type LaunchedStack, launchStack } from '../../local/cli/launch.ts';
import { postJson } from './post-json.ts';
import type { DispatchBody } from './request.ts';
import { SHORT_TIMES } from './times.ts';

/** How one ordeal goes. */
export interface ChaosPlan {
  readonly recipients: number;
  /** What is killed and which calls fail is drawn from it; when exactly, the machine decides. */
  readonly seed: number;
  readonly policy: 'auto' | 'resend' | 'manual';
  /** Whether SES publishes its events. */
  readonly events: boolean;
  readonly killEverySeconds: number;
  /** kill -9 of the whole stack, emulators and all, that often as well; undefined: never. */
  readonly killStackEverySeconds?: number;
  /** What the SES account allows. */
  readonly mailsPerSecond: number;
  readonly patienceSeconds: number;
  /** Told at the end what was asked for and where the stack has kept everything, before that is removed. */
  readonly onEnd?: (directory: string, body: DispatchBody) => void;
}

/** Shares of the calls to SES that go wrong: 5 % throttled, 2 % unclear, 1 % refused for good. */
const FAULTS: readonly (readonly [fault: string, share: number])[] = [
  ['throttle', 0.05],
  ['reset-after-accept', 0.004],
  ['half-answer', 0.004],
  ['silent-after-accept', 0.004],
  ['reset-before', 0.004],
  ['html-503', 0.004],
  ['rejected-content', 0.01],
];

/** What the gate does is forgotten when the stack is killed. */
const setScene = async ({ description: { ses } }: LaunchedStack, { seed, events }: ChaosPlan, start: number) => {
  for (const [i, [fault, share]] of FAULTS.entries()) {
    await postJson(`${ses}/_gate/faults`, 'POST', { fault, share, seed: seed * 1_000 + start * 100 + i });
  }
  if (!events) await postJson(`${ses}/_gate/events`, 'POST', { lost: true });
};

/** A stack that is killed as a whole and started again now and then, if so planned. */
export const keepUp = async (plan: ChaosPlan, directory: string) => {
  const environment = {
    ...SHORT_TIMES,
    // The default is not named: so this stack is made from the same template as others.
    ...(plan.policy !== 'auto' && { UNCLEAR_POLICY: plan.policy }),
    LOCAL_SES_RATE: String(plan.mailsPerSecond),
    ...(plan.onEnd && { LOCAL_RECORD: '1' }),
  };
  let starts = 0;
  const start = async (): Promise<LaunchedStack> => {
    const launched = await launchStack(directory, environment);
    await setScene(launched, plan, starts);
    starts += 1;
    return launched;
  };
  let stack: LaunchedStack | undefined = await start();
  const calm = new AbortController();
  const killNowAndThen = async (everySeconds: number) => {
    for (;;) {
      await sleep(everySeconds * 1000, undefined, { signal: calm.signal }).catch(() => undefined);
      if (calm.signal.aborted) return;
      const old = stack;
      stack = undefined;
      await old?.kill();
      stack = await start();
    }
  };
  const killing = plan.killStackEverySeconds === undefined ? undefined : killNowAndThen(plan.killStackEverySeconds);
  return {
    now: () => stack,
    stackKills: () => starts - 1,
    /** No kill of the stack is begun any more; resolves once it is up. */
    calm: async (): Promise<LaunchedStack> => {
      calm.abort();
      await killing;
      if (stack === undefined) throw new Error('the stack is down');
      return stack;
    },
    end: async () => {
      calm.abort();
      await killing?.catch(() => undefined);
      const last = stack;
      stack = undefined;
      await last?.kill();
    },
  };
};
