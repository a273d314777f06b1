import type { Instant } from '../domain/instant.ts';
import {
  isRun,
  nextStreak,
  pauseFor,
  type PausePolicy,
  permission,
  prolong,
  resumed,
  type Sending,
  type Streak,
} from '../domain/pause.ts';
import type { AttemptAnswer } from './attempt-end.ts';
import type { Clock, SendingRepository, SweepTraces } from './ports.ts';

/** What a sender may do: go on, try with a single mail whether a pause is over, or leave everything alone. */
export type Leave = { readonly may: 'send' } | { readonly may: 'probe' } | { readonly may: 'wait'; readonly until: Instant };

/** A change of the pause, for logs and metrics; told by the one sender whose change prevailed. */
export interface PauseSignal {
  readonly type: 'paused' | 'pause-prolonged' | 'resumed';
  readonly code: string;
}

/** Keeps one sender from sending while the account may not. */
export interface PauseGuard {
  ask(): Promise<Leave>;
  /** Until when nothing should be done, for work that sends nothing and cannot probe; undefined: there is no pause. */
  pausedUntil(): Promise<Instant | undefined>;
  /** What SES answered, recipient by recipient: trouble of the account pauses, a probe that went well resumes. */
  note(answers: readonly { readonly recipient: string; readonly answer: AttemptAnswer }[]): Promise<void>;
}

export interface PauseGuardDeps {
  readonly sending: SendingRepository;
  readonly sweeps: SweepTraces;
  readonly policy: PausePolicy;
  /** How long to wait where no end of it is known, as with an operator's pause. */
  readonly lookAgainSeconds: number;
  readonly clock: Clock;
  /** Must not throw. */
  readonly observe: (signal: PauseSignal) => void;
}

/** How old the knowledge of a pause may be. */
const KEPT_MS = 5_000;
const UNAVAILABLE_MS = 5_000;
/** After an outage or a restore the sweeper looks first: it stops what is too old to be sent unasked. */
const SWEEP_OVERDUE_MS = 24 * 3_600_000;

/** Code of a pause after a run of trouble that no single answer explains. */
export const TROUBLE_IN_A_ROW = 'TROUBLE_IN_A_ROW';

interface Known {
  readonly sending: Sending;
  readonly lastPassAt: Instant | undefined;
  readonly at: Instant;
}

/** A guard for one sender environment; what it knows lives as long as the environment. */
export const createPauseGuard = (deps: PauseGuardDeps): PauseGuard => {
  const { sending, sweeps, policy, clock } = deps;
  const lookAgainMs = deps.lookAgainSeconds * 1000;
  let known: Known | undefined;
  /** The probe that is ours to make. */
  let probe: Sending | undefined;
  let streak: Streak = new Set();

  const look = async (): Promise<Known | undefined> => {
    if (known !== undefined && clock() - known.at < KEPT_MS) return known;
    const [now, lastPassAt] = await Promise.all([sending.read(), sweeps.lastPassAt()]);
    known = now === 'unavailable' || lastPassAt === 'unavailable' ? undefined : { sending: now, lastPassAt, at: clock() };
    return known;
  };

  const consult = async () => {
    const now = await look();
    if (now === undefined) return { may: 'wait', until: clock() + UNAVAILABLE_MS } as const;
    if (now.lastPassAt !== undefined && clock() - now.lastPassAt > SWEEP_OVERDUE_MS)
      return { may: 'wait', until: clock() + lookAgainMs } as const;
    const permitted = permission(now.sending, policy, clock());
    return permitted.may === 'wait' ? { ...permitted, until: permitted.until ?? clock() + lookAgainMs } : permitted;
  };

  /** Even if another sender prevailed, ours pauses by its own decision until it looks again; to go on it must have prevailed. */
  const store = async (next: Sending): Promise<boolean> => {
    const decided = { sending: next, lastPassAt: known?.lastPassAt, at: clock() };
    known = next.pause === undefined ? undefined : decided;
    const prevails = await sending.change(next).catch(() => false);
    if (prevails) known = decided;
    return prevails;
  };

  const decide = async (next: Sending | undefined, signal: PauseSignal): Promise<void> => {
    probe = undefined;
    streak = new Set();
    if (next !== undefined && (await store(next))) deps.observe(signal);
  };

  return {
    async ask() {
      const now = await look();
      if (now !== undefined && isStillOurs(probe, now.sending, clock())) return { may: 'probe' };
      const permitted = await consult();
      if (permitted.may !== 'probe') return permitted;
      const isOurs = await store(permitted.next);
      probe = isOurs ? permitted.next : undefined;
      return isOurs ? { may: 'probe' } : { may: 'wait', until: clock() + policy.probeSeconds * 1000 };
    },

    async pausedUntil() {
      const permitted = await consult();
      return permitted.may === 'wait' ? permitted.until : undefined;
    },

    async note(answers) {
      for (const { recipient, answer } of answers) {
        if (isTrouble(answer)) streak = nextStreak(streak, recipient, true);
        else if (answer.kind === 'accepted' || answer.kind === 'permanent') streak = nextStreak(streak, recipient, false);
      }
      const account = answers.find(({ answer }) => answer.kind === 'account' || answer.kind === 'credentials')?.answer;
      const trouble = account ?? answers.find(({ answer }) => isTrouble(answer))?.answer;
      if (probe !== undefined && trouble !== undefined && 'code' in trouble) {
        await decide(prolong(probe, trouble.code, policy, clock()), { type: 'pause-prolonged', code: trouble.code });
      } else if (account !== undefined && 'code' in account) {
        const seen = known?.sending;
        await decide(seen && pauseFor(seen, account.code, policy, clock()), { type: 'paused', code: account.code });
      } else if (isRun(streak)) {
        const seen = known?.sending;
        await decide(seen && pauseFor(seen, TROUBLE_IN_A_ROW, policy, clock()), { type: 'paused', code: TROUBLE_IN_A_ROW });
      } else if (probe !== undefined && answers.some(({ answer }) => wasAsked(answer))) {
        const code = probe.pause?.by === 'service' ? probe.pause.code : '';
        await decide(resumed(probe, clock()), { type: 'resumed', code });
      }
    },
  };
};

/** A probe may be made until its time is up, or somebody has changed the pause. */
const isStillOurs = (probe: Sending | undefined, { version }: Sending, now: Instant): boolean =>
  probe?.pause?.by === 'service' && probe.version === version && now < (probe.pause.probeUntil ?? 0);

const isTrouble = ({ kind }: AttemptAnswer): boolean => kind === 'transient' || kind === 'unclear';

/** A mail that cannot be rendered says nothing about SES. */
const wasAsked = ({ kind }: AttemptAnswer): boolean => kind !== 'no-time' && kind !== 'unrenderable' && kind !== 'used-up';
