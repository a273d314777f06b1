import type { Instant } from './instant.ts';

/** Why nothing is sent for now, and who ends that. */
export type Pause =
  | { readonly by: 'operator'; readonly who: string; readonly since: Instant; readonly reason?: string }
  | {
      readonly by: 'service';
      /** A safe code, such as ACCOUNT_DAILY_QUOTA_EXCEEDED. */
      readonly code: string;
      readonly since: Instant;
      /** From then on one mail may try whether it is over. */
      readonly until: Instant;
      /** Length of this wait; the next one is twice as long. */
      readonly seconds: number;
      /** The one who tries has until then. */
      readonly probeUntil?: Instant;
    };

/** Whether the account may send. `version` grows with every change, so that two who decide at once do not both prevail. */
export interface Sending {
  readonly version: number;
  readonly pause?: Pause;
  /** When the last pause ended. */
  readonly resumedAt?: Instant;
}

export const SENDING: Sending = { version: 0 };

export interface PausePolicy {
  readonly pauseBaseSeconds: number;
  readonly pauseCapSeconds: number;
  /** Longest time that a probe may take. */
  readonly probeSeconds: number;
}

/** What a sender may do now. */
export type Permission =
  | { readonly may: 'send' }
  | { readonly may: 'wait'; readonly until?: Instant }
  /** One mail, if the claim of the probe by this next state is granted. */
  | { readonly may: 'probe'; readonly next: Sending };

/** Whether not even a probe may be made now. */
export const isPaused = ({ pause }: Sending, now: Instant): boolean =>
  pause?.by === 'operator' || (pause !== undefined && now < Math.max(pause.until, pause.probeUntil ?? 0));

/** Reads what a pause allows. Only an operator ends an operator's pause. */
export const permission = ({ version, pause }: Sending, policy: PausePolicy, now: Instant): Permission => {
  if (pause === undefined) return { may: 'send' };
  if (pause.by === 'operator') return { may: 'wait' };
  if (now < pause.until) return { may: 'wait', until: pause.until };
  if (pause.probeUntil !== undefined && now < pause.probeUntil) return { may: 'wait', until: pause.probeUntil };
  return { may: 'probe', next: { version: version + 1, pause: { ...pause, probeUntil: now + policy.probeSeconds * 1000 } } };
};

/** The pause after trouble of the account; undefined: there is one already, and it is not ours to change. */
export const pauseFor = ({ version, pause }: Sending, code: string, policy: PausePolicy, now: Instant): Sending | undefined => {
  if (pause !== undefined) return undefined;
  const seconds = policy.pauseBaseSeconds;
  return { version: version + 1, pause: { by: 'service', code, since: now, until: now + seconds * 1000, seconds } };
};

/** The pause after a probe that failed: twice as long. Undefined if the pause is not the one that was probed. */
export const prolong = (probed: Sending, code: string, policy: PausePolicy, now: Instant): Sending | undefined => {
  const { version, pause } = probed;
  if (pause?.by !== 'service') return undefined;
  const seconds = Math.min(policy.pauseCapSeconds, pause.seconds * 2);
  return { version: version + 1, pause: { by: 'service', code, since: pause.since, until: now + seconds * 1000, seconds } };
};

/** No pause any more. */
export const resumed = ({ version }: Sending, now: Instant): Sending => ({ version: version + 1, resumedAt: now });

/** An operator's pause, over whatever there was. */
export const pausedBy = (
  { version }: Sending,
  { who, reason }: { readonly who: string; readonly reason?: string },
  now: Instant,
): Sending => ({
  version: version + 1,
  pause: { by: 'operator', who, since: now, ...(reason !== undefined && { reason }) },
});

/** Outcomes in a row, of different recipients, that look like trouble of SES or of the way to it. */
export type Streak = ReadonlySet<string>;

const STREAK_LENGTH = 10;

/** The streak after one more outcome. */
export const nextStreak = (streak: Streak, recipient: string, isTrouble: boolean): Streak =>
  isTrouble ? new Set([...streak, recipient]) : new Set();

/** Whether it is long enough to pause. */
export const isRun = (streak: Streak): boolean => streak.size >= STREAK_LENGTH;
