import { kindOf, type PausePolicy, type Sending, type ServicePause } from '../../../domain/sending/pause.ts';
import { afterCanary, type ProbeEnd, readCanary, toBeContinued } from '../../../domain/sending/probe.ts';
import type { Clock, Random, Sleep } from '../../ports/system.ts';
import type { QuotaRoom } from '../rate/quota-room.ts';
import type { SharedCanary } from './shared-canary.ts';

export interface ProbeDeps {
  readonly canary: SharedCanary;
  readonly quota: QuotaRoom;
  readonly policy: PausePolicy;
  readonly clock: Clock;
  readonly random: Random;
  readonly sleep: Sleep;
}

/** Trouble that comes and goes must be away for a while before it is believed to be over. */
const CANARIES_AFTER_TROUBLE = 5;
const CANARIES_APART_MS = 1_000;

/**
 * Probes a pause by canaries: one, or five in a row after trouble in passing; the first that is not accepted decides.
 * @param hasTime whether another canary may be sent
 * @returns what becomes of the pause
 */
export const probeByCanary = async (
  { canary, policy, clock, random, sleep }: ProbeDeps,
  probed: Sending,
  { code, accepted: before = 0 }: ServicePause,
  hasTime: () => boolean,
): Promise<ProbeEnd | undefined> => {
  const wanted = kindOf(code) === 'trouble' ? CANARIES_AFTER_TROUBLE : 1;
  for (let accepted = before; ; accepted += 1) {
    const { answer } = await canary.send();
    const verdict = readCanary(answer, code);
    const isLast = verdict.kind !== 'works' || accepted + 1 === wanted;
    if (isLast) return afterCanary(probed, verdict, { accepted, policy, now: clock(), random: random() });
    if (!hasTime()) return toBeContinued(probed, accepted + 1, clock());
    await sleep(CANARIES_APART_MS);
  }
};

/** Probes without an answer to {@link QuotaRoom.hasRoom}, after which a mail finds out. */
const BLIND_PROBES = 3;

/** Whether a mail may probe a pause for the daily quota, or else what becomes of it: SES is asked first, since the mail would be refused. */
export const probeQuota = async (
  { quota, policy, clock, random }: ProbeDeps,
  probed: Sending,
  { since, probes = 0 }: ServicePause,
): Promise<ProbeEnd | 'mail' | undefined> => {
  const hasRoom = await quota.hasRoom(since);
  if (hasRoom === true || (hasRoom === undefined && probes >= BLIND_PROBES)) return 'mail';
  return afterCanary(probed, { kind: 'open' }, { accepted: hasRoom === false ? 1 : 0, policy, now: clock(), random: random() });
};
