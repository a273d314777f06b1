import type { Instant } from '../shared/instant.ts';

/** Why nothing is sent for now, and who ends that. */
export type Pause =
  | { readonly by: 'operator'; readonly who: string; readonly since: Instant; readonly reason?: string }
  | {
      readonly by: 'service';
      /** A safe code, such as ACCOUNT_DAILY_QUOTA_EXCEEDED. */
      readonly code: string;
      readonly since: Instant;
      /** From then on it may be probed whether the reason is gone. */
      readonly until: Instant;
      /** Length of this wait; the next one is twice as long. */
      readonly seconds: number;
      /** The one who probes has until then. */
      readonly probeUntil?: Instant;
      /** Probes in a row of which none was accepted; absent: none. */
      readonly probes?: number;
      /** Canaries in a row that were accepted, where more than one must be; absent: none. */
      readonly accepted?: number;
    };

/** A pause that senders set and end. */
export type ServicePause = Extract<Pause, { by: 'service' }>;

/** Whether the account may send. `version` grows with every change, so that two who decide at once do not both prevail. */
export interface Sending {
  readonly version: number;
  readonly pause?: Pause;
  /** When the last pause ended. */
  readonly resumedAt?: Instant;
  /** Length of the last wait of that pause, if a sender had set it. */
  readonly lastSeconds?: number;
}

export const SENDING: Sending = { version: 0 };

export interface PausePolicy {
  readonly pauseBaseSeconds: number;
  readonly pauseCapSeconds: number;
  /** Longest time that a probe may take. */
  readonly probeSeconds: number;
}

/** The account may send no more mails within 24 hours. */
export const DAILY_QUOTA = 'ACCOUNT_DAILY_QUOTA_EXCEEDED';
/** Ten attempts in a row failed in passing, or got no answer. */
export const TROUBLE_IN_A_ROW = 'TROUBLE_IN_A_ROW';
/** A large share of the answers is lost, though some mails are accepted. */
export const ANSWERS_LOST = 'ANSWERS_LOST';
/** The credentials of several environments were refused. */
export const CREDENTIALS = 'CREDENTIALS';

/** What a pause is about: this decides how it ends. */
export type PauseKind = 'account' | 'quota' | 'trouble' | 'credentials';

export const kindOf = (code: string): PauseKind => {
  switch (code) {
    case DAILY_QUOTA:
      return 'quota';
    case TROUBLE_IN_A_ROW:
    case ANSWERS_LOST:
      return 'trouble';
    case CREDENTIALS:
      return 'credentials';
    default:
      return 'account';
  }
};

/** What a sender may do now. */
export type Permission =
  | { readonly may: 'send' }
  | { readonly may: 'wait'; readonly until?: Instant }
  /** One probe, if its claim by this next state is granted. */
  | { readonly may: 'probe'; readonly with: 'canary' | 'mail'; readonly next: Sending };

/** Whether not even a probe may be made now. */
export const isPaused = ({ pause }: Sending, now: Instant): boolean =>
  pause?.by === 'operator' || (pause !== undefined && now < Math.max(pause.until, pause.probeUntil ?? 0));

/** Probes by canary of which none was accepted, after which a recipient's mail probes. */
export const CANARY_PROBES = 3;

/**
 * A canary is not counted against the quota, so it cannot show its end. A mail and a canary take turns after
 * {@link CANARY_PROBES}: the mail may be refused for its recipient's sake, the canary for the simulator's.
 */
const probesWith = ({ code, probes = 0 }: ServicePause): 'canary' | 'mail' =>
  kindOf(code) === 'quota' || (probes >= CANARY_PROBES && (probes - CANARY_PROBES) % 2 === 0) ? 'mail' : 'canary';

/** Reads what a pause allows. Only an operator ends an operator's pause. */
export const permission = ({ version, pause }: Sending, policy: PausePolicy, now: Instant): Permission => {
  if (pause === undefined) return { may: 'send' };
  if (pause.by === 'operator') return { may: 'wait' };
  if (now < pause.until) return { may: 'wait', until: pause.until };
  if (pause.probeUntil !== undefined && now < pause.probeUntil) return { may: 'wait', until: pause.probeUntil };
  const next = { version: version + 1, pause: { ...pause, probeUntil: now + policy.probeSeconds * 1000 } };
  return { may: 'probe', with: probesWith(pause), next };
};

/** A pause that begins so soon after the end of the last one is twice as long. */
const SOON_MS = 600_000;

/** The pause for a reason that senders found; undefined: there is one already, and it is not ours to change. */
export const pauseFor = (sending: Sending, code: string, policy: PausePolicy, now: Instant): Sending | undefined => {
  const { version, pause, resumedAt, lastSeconds } = sending;
  if (pause !== undefined) return undefined;
  const isSoon = resumedAt !== undefined && lastSeconds !== undefined && now - resumedAt <= SOON_MS;
  const seconds = isSoon ? Math.min(policy.pauseCapSeconds, lastSeconds * 2) : policy.pauseBaseSeconds;
  return { version: version + 1, pause: { by: 'service', code, since: now, until: now + seconds * 1000, seconds } };
};

/** No pause any more. */
export const resumed = ({ version, pause }: Sending, now: Instant): Sending => ({
  version: version + 1,
  resumedAt: now,
  ...(pause?.by === 'service' && { lastSeconds: pause.seconds }),
});

/** An operator's pause, over whatever there was. */
export const pausedBy = (
  { version }: Sending,
  { who, reason }: { readonly who: string; readonly reason?: string },
  now: Instant,
): Sending => ({
  version: version + 1,
  pause: { by: 'operator', who, since: now, ...(reason !== undefined && { reason }) },
});
