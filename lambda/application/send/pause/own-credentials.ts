import type { Instant } from '../../../domain/shared/instant.ts';
import type { CanaryRepository } from '../../ports/control.ts';
import type { Clock, Random } from '../../ports/system.ts';
import type { SharedCanary } from './shared-canary.ts';

/** Whether this environment's own credentials are accepted. */
export interface OwnCredentials {
  /** SES refused them: this environment takes no work for a while. @returns whether so many environments met it that all should pause */
  refused(): Promise<boolean>;
  /** Until when this environment should leave its messages to others; undefined: it may work. Sends a canary once the time is over. */
  check(): Promise<Instant | undefined>;
}

const FIRST_SECONDS = 60;
const CAP_SECONDS = 600;
/** Credentials that expired everywhere at once must not be tried everywhere at once. */
const JITTER = 0.25;
/** A message that this environment hands on is soon in another one's hands. */
const HAND_ON_MS = 15_000;
const ENVIRONMENTS_TO_PAUSE = 3;

export interface OwnCredentialsDeps {
  readonly canaries: CanaryRepository;
  readonly canary: Pick<SharedCanary, 'send'>;
  /** A random id of this environment. */
  readonly environment: string;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * The canary is the environment's own, outside the budget that all senders share: the result of another says nothing about
 * these credentials, and in turn many environments would wait for minutes. A call with refused credentials costs nothing at
 * SES; an accepted one is one mail to the simulator in each rest of each environment.
 */
export const createOwnCredentials = (deps: OwnCredentialsDeps): OwnCredentials => {
  const { canaries, canary, environment, clock, random } = deps;
  let rest: { readonly until: Instant; readonly seconds: number } | undefined;
  let trial: Promise<Instant | undefined> | undefined;

  const restFor = (seconds: number): void => {
    rest = { until: clock() + Math.round(seconds * 1000 * (1 + JITTER * random())), seconds };
  };

  const tryOut = async (seconds: number): Promise<Instant | undefined> => {
    const { kind } = (await canary.send()).answer;
    if (kind === 'credentials') restFor(Math.min(CAP_SECONDS, seconds * 2));
    else if (kind === 'transient' || kind === 'unclear') rest = { until: clock() + HAND_ON_MS, seconds };
    // Whatever else SES answers, it accepted the credentials first.
    else rest = undefined;
    return rest && clock() + HAND_ON_MS;
  };

  return {
    async refused() {
      if (rest === undefined) restFor(FIRST_SECONDS);
      return (await canaries.noteCredentials(environment, clock())) >= ENVIRONMENTS_TO_PAUSE;
    },

    async check() {
      if (rest === undefined) return undefined;
      const now = clock();
      if (now < rest.until) return Math.min(rest.until, now + HAND_ON_MS);
      // Callers at once share one canary.
      trial ??= tryOut(rest.seconds).finally(() => {
        trial = undefined;
      });
      return trial;
    },
  };
};
