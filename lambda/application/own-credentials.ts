import type { Instant } from '../domain/instant.ts';
import type { CanaryRepository, Clock } from './ports.ts';
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
/** A message that this environment hands on is soon in another one's hands. */
const HAND_ON_MS = 15_000;
const ENVIRONMENTS_TO_PAUSE = 3;

export interface OwnCredentialsDeps {
  readonly canaries: CanaryRepository;
  readonly canary: SharedCanary;
  /** A random id of this environment. */
  readonly environment: string;
  readonly clock: Clock;
}

export const createOwnCredentials = ({ canaries, canary, environment, clock }: OwnCredentialsDeps): OwnCredentials => {
  let rest: { readonly until: Instant; readonly seconds: number } | undefined;

  const restFor = (seconds: number): void => {
    rest = { until: clock() + seconds * 1000, seconds };
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
      // Another sender's result says nothing about our own credentials.
      const kind = (await canary.ask())?.answer.kind;
      if (kind === undefined || kind === 'transient' || kind === 'unclear') return now + HAND_ON_MS;
      if (kind === 'credentials') restFor(Math.min(CAP_SECONDS, rest.seconds * 2));
      else rest = undefined;
      return kind === 'credentials' ? clock() + HAND_ON_MS : undefined;
    },
  };
};
