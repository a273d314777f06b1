import {
  ANSWERS_LOST,
  CREDENTIALS,
  DAILY_QUOTA,
  pauseFor,
  type PausePolicy,
  permission,
  type Sending,
  TROUBLE_IN_A_ROW,
} from '../../../domain/sending/pause.ts';
import { afterMail, type ProbeEnd } from '../../../domain/sending/probe.ts';
import type { Instant } from '../../../domain/shared/instant.ts';
import type { CanaryRepository, SendingRepository, SweepStates, TableIdentity } from '../../ports/control.ts';
import type { MailProvider } from '../../ports/provider.ts';
import type { ClaimedRecipient } from '../../ports/recipients.ts';
import type { Clock, NewId, Random, Sleep } from '../../ports/system.ts';
import type { AttemptAnswer } from '../finished-attempt.ts';
import type { QuotaRoom } from '../rate/quota-room.ts';
import { type NotedAnswer, wasAsked } from './noted-answer.ts';
import { createOwnCredentials } from './own-credentials.ts';
import { createPauseState } from './pause-state.ts';
import { probeByCanary, probeQuota } from './probe-pause.ts';
import { createRefusalRules } from './refusal-rules.ts';
import { createSharedCanary } from './shared-canary.ts';
import { createTroubleWatch } from './trouble-watch.ts';

/** What a sender may do: go on, probe a pause with a single mail, or leave everything alone. */
export type SendPermission =
  { readonly may: 'send' } | { readonly may: 'probe' } | { readonly may: 'wait'; readonly until: Instant };

/** A change of the pause, for logs and metrics; reported by the one sender whose change prevailed. */
export interface PauseSignal {
  /** `canary-unusable`: SES refuses canaries though it may accept mails, so they cannot show the end of a pause. */
  readonly type: 'paused' | 'pause-prolonged' | 'resumed' | 'canary-unusable';
  readonly code: string;
}

/** Keeps one sender from sending while the account may not. */
export interface PauseGuard {
  /** @param remainingMs time left of the invocation: canaries are sent only within it */
  acquire(remainingMs: () => number): Promise<SendPermission>;
  /** Until when nothing should be done, for work that sends nothing and cannot probe; undefined: there is no pause. */
  pausedUntil(): Promise<Instant | undefined>;
  /** Tells a refusal that counts as an attempt of its recipient from one that is given back. Never throws. */
  weigh(answer: AttemptAnswer, claimed: ClaimedRecipient, from: string): Promise<AttemptAnswer>;
  /** What SES answered to the mails of one chunk: pauses, ends the pause that is probed, or stops a dispatch. */
  record(answers: readonly NotedAnswer[], remainingMs: () => number): Promise<void>;
}

export interface PauseGuardDeps {
  readonly sending: SendingRepository;
  readonly sweeps: SweepStates;
  readonly identity: Pick<TableIdentity, 'origin'>;
  readonly canaries: CanaryRepository;
  readonly provider: Pick<MailProvider, 'sendCanary'>;
  readonly quota: QuotaRoom;
  /** Stops a dispatch whose mails alone are refused. Never throws. */
  readonly stopDispatch: (
    dispatchId: string,
    reason: 'refused-though-account-works' | 'sender-not-configured',
    code: string,
  ) => Promise<void>;
  readonly policy: PausePolicy;
  /** Who canaries and new mails are from. */
  readonly fromAddress: string;
  /** How long to wait where no end of it is known, as with an operator's pause. */
  readonly lookAgainSeconds: number;
  /** How long a call to SES may take, with what follows it. */
  readonly callMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly sleep: Sleep;
  /** Must not throw. */
  readonly observe: (signal: PauseSignal) => void;
}

const UNAVAILABLE_MS = 5_000;
/** An invocation that has no time left for the canaries of a probe leaves it to the next one. */
const NEXT_INVOCATION_MS = 1_000;
/** After an outage the sweeper looks first: it stops what is too old to be sent unasked. */
const SWEEP_OVERDUE_MS = 24 * 3_600_000;

/** A guard for one sender environment; what it knows lives as long as the environment. */
export const createPauseGuard = (deps: PauseGuardDeps): PauseGuard => {
  const { canaries, provider, policy, clock, random, observe } = deps;
  const lookAgainMs = deps.lookAgainSeconds * 1000;
  const state = createPauseState(deps, clock);
  const canary = createSharedCanary(canaries, provider, deps.fromAddress, clock);
  const credentials = createOwnCredentials({ canaries, canary, environment: deps.newId(), clock, random });
  const trouble = createTroubleWatch(clock);
  const refusals = createRefusalRules({ ...deps, canary });
  /** The probe that is ours to make with a mail. */
  let probe: Sending | undefined;

  const consult = async () => {
    const now = await state.read();
    if (now === undefined) return { may: 'wait', until: clock() + UNAVAILABLE_MS } as const;
    const isOverdue = now.lastPassAt !== undefined && clock() - now.lastPassAt > SWEEP_OVERDUE_MS;
    // In a restored table the sweeper stops everything first: what was sent after the restore point looks as if it were not.
    if (isOverdue || now.origin === 'restored') return { may: 'wait', until: clock() + lookAgainMs } as const;
    const permitted = permission(now.sending, policy, clock());
    return permitted.may === 'wait' ? { ...permitted, until: permitted.until ?? clock() + lookAgainMs } : permitted;
  };

  const pause = async (code: string): Promise<void> => {
    trouble.forget();
    refusals.forget();
    const seen = await state.read();
    const next = seen && pauseFor(seen.sending, code, policy, clock());
    if (next !== undefined && (await state.store(next))) observe({ type: 'paused', code });
  };

  /** Stores what a probe came to. */
  const end = async (probed: Sending, ended: ProbeEnd | undefined): Promise<void> => {
    probe = undefined;
    if (ended === undefined || !(await state.store(ended.next))) return;
    const before = probed.pause?.by === 'service' ? probed.pause.code : '';
    const code = ended.next.pause?.by === 'service' ? ended.next.pause.code : before;
    if (ended.type !== 'probed-again') observe({ type: ended.type, code });
  };

  const probeNow = async (
    next: Sending,
    by: 'canary' | 'mail',
    remainingMs: () => number,
  ): Promise<SendPermission | undefined> => {
    if (!(await state.store(next))) return { may: 'wait', until: clock() + policy.probeSeconds * 1000 };
    if (next.pause?.by !== 'service') return undefined;
    const { probeUntil = 0, code } = next.pause;
    // The pause between two canaries comes first.
    const hasTime = () => Math.min(remainingMs(), probeUntil - clock()) > deps.callMs + 1_000;
    const ended =
      by === 'canary'
        ? await probeByCanary({ ...deps, canary }, next, next.pause, hasTime)
        : code === DAILY_QUOTA
          ? await probeQuota({ ...deps, canary }, next, next.pause)
          : 'mail';
    if (ended === 'mail') {
      probe = next;
      return { may: 'probe' };
    }
    await end(next, ended);
    return undefined;
  };

  /** A refused or accepted mail of a probe; one that was not sent leaves the probe to the next mail. */
  const recordProbe = async (probed: Sending, answers: readonly NotedAnswer[]): Promise<void> => {
    for (const { answer } of answers) {
      if (!wasAsked(answer) || answer.kind === 'refused-alone') continue;
      const ended = afterMail(probed, answer, { policy, now: clock(), random: random() });
      const probes = probed.pause?.by === 'service' ? (probed.pause.probes ?? 0) : 0;
      const code = probed.pause?.by === 'service' ? probed.pause.code : '';
      await end(probed, ended);
      if (answer.kind === 'accepted' && probes > 0 && code !== DAILY_QUOTA) observe({ type: 'canary-unusable', code });
      return;
    }
  };

  return {
    async acquire(remainingMs) {
      const handOn = await credentials.check();
      if (handOn !== undefined) return { may: 'wait', until: handOn };
      const now = await state.read();
      if (now !== undefined && isStillOurs(probe, now.sending, clock())) return { may: 'probe' };
      probe = undefined;
      // A probe by canary may end the pause, or have a mail take its place.
      for (;;) {
        const permitted = await consult();
        if (permitted.may !== 'probe') return permitted;
        if (remainingMs() <= deps.callMs) return { may: 'wait', until: clock() + NEXT_INVOCATION_MS };
        const probed = await probeNow(permitted.next, permitted.with, remainingMs);
        if (probed !== undefined) return probed;
      }
    },

    async pausedUntil() {
      const permitted = await consult();
      return permitted.may === 'wait' ? permitted.until : undefined;
    },

    weigh: (answer, claimed, from) => (probe === undefined ? refusals.weigh(answer, claimed, from) : Promise.resolve(answer)),

    async record(answers, remainingMs) {
      if (answers.some(({ answer }) => answer.kind === 'credentials') && (await credentials.refused())) await pause(CREDENTIALS);
      if (probe !== undefined) {
        await recordProbe(probe, answers);
        return;
      }
      const found = trouble.add(answers);
      refusals.add(answers);
      if (answers.some(({ answer }) => answer.kind === 'account' && answer.code === DAILY_QUOTA)) await pause(DAILY_QUOTA);
      else if (found !== undefined) await pause(found === 'in-a-row' ? TROUBLE_IN_A_ROW : ANSWERS_LOST);
      else {
        const decided = await refusals.decide(() => remainingMs() > deps.callMs);
        if (decided?.isUnusable === true) observe({ type: 'canary-unusable', code: decided.code });
        if (decided?.pauses === true) await pause(decided.code);
      }
    },
  };
};

/** A probe may be made until its time is up, or somebody has changed the pause. */
const isStillOurs = (probe: Sending | undefined, { version }: Sending, now: Instant): boolean =>
  probe?.pause?.by === 'service' && probe.version === version && now < (probe.pause.probeUntil ?? 0);
