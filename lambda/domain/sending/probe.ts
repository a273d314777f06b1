import type { Instant } from '../shared/instant.ts';
import { CANARY_PROBES, type PausePolicy, resumed, type Sending, type ServicePause } from './pause.ts';
import type { SendAnswer } from './send-answer.ts';

/** What a canary says about the account. */
export type CanaryVerdict =
  | { readonly kind: 'works' }
  | { readonly kind: 'refused'; readonly code: string }
  /** Nothing was learned: ask again later. */
  | { readonly kind: 'open' }
  /** SES asks for a slower pace: ask again after a moment. */
  | { readonly kind: 'throttled' }
  /** SES refuses the canary itself, so it says nothing about mails. */
  | { readonly kind: 'unusable'; readonly code: string }
  | { readonly kind: 'credentials' };

/** Code of a call that the rights of the sender do not allow. */
const ACCESS_DENIED = 'ACCESS_DENIED';

/** Reads the answer to a canary. @param refusedWith the code with which mails were refused; a right that only the canary lacks is none of theirs */
export const readCanary = (answer: SendAnswer, refusedWith: string): CanaryVerdict => {
  switch (answer.kind) {
    case 'accepted':
      return { kind: 'works' };
    case 'account':
      return answer.code === ACCESS_DENIED && refusedWith !== ACCESS_DENIED
        ? { kind: 'unusable', code: answer.code }
        : { kind: 'refused', code: answer.code };
    case 'permanent':
      return { kind: 'unusable', code: answer.code };
    case 'throttled':
    case 'credentials':
      return { kind: answer.kind };
    case 'transient':
    case 'unclear':
      return { kind: 'open' };
  }
};

/** What a probe does to the pause that it probed. */
export interface ProbeEnd {
  readonly next: Sending;
  readonly type: 'resumed' | 'pause-prolonged' | 'probed-again' | 'canary-unusable';
}

const withPause = (
  { version }: Sending,
  { by, code, since, probes }: ServicePause,
  until: Instant,
  seconds: number,
): Sending => ({
  version: version + 1,
  pause: { by, code, since, until, seconds, ...(probes !== undefined && { probes }) },
});

/** Twice as long, at most the cap. */
const prolong = (probed: Sending, pause: ServicePause, policy: PausePolicy, now: Instant): ProbeEnd => {
  const seconds = Math.min(policy.pauseCapSeconds, pause.seconds * 2);
  return { next: withPause(probed, pause, now + seconds * 1000, seconds), type: 'pause-prolonged' };
};

const oneMore = (pause: ServicePause): ServicePause => ({ ...pause, probes: (pause.probes ?? 0) + 1 });

/** The same probe once more, 1 to 5 s later. */
const again = (probed: Sending, pause: ServicePause, now: Instant, random: number): ProbeEnd => ({
  next: withPause(probed, pause, now + 1_000 + Math.round(4_000 * random), pause.seconds),
  type: 'probed-again',
});

/** The pause that a probe was claimed for; undefined: there is none to end. */
const probedPause = ({ pause }: Sending): ServicePause | undefined => (pause?.by === 'service' ? pause : undefined);

/**
 * What the last canary of a probe does to the pause.
 * @param accepted canaries of this probe that were accepted before it
 * @param random from 0 up to 1
 */
export const afterCanary = (
  probed: Sending,
  verdict: CanaryVerdict,
  {
    accepted,
    policy,
    now,
    random,
  }: { readonly accepted: number; readonly policy: PausePolicy; readonly now: Instant; readonly random: number },
): ProbeEnd | undefined => {
  const pause = probedPause(probed);
  if (pause === undefined) return undefined;
  switch (verdict.kind) {
    case 'works':
      return { next: resumed(probed, now), type: 'resumed' };
    case 'refused':
      return prolong(probed, { ...oneMore(pause), code: verdict.code }, policy, now);
    case 'open':
    case 'credentials':
      // One that was accepted shows that the canary is usable: no recipient's mail needs to take its place.
      return prolong(probed, accepted > 0 ? { ...pause, probes: 0 } : oneMore(pause), policy, now);
    case 'throttled':
      return again(probed, pause, now, random);
    case 'unusable':
      return { next: withPause(probed, { ...pause, probes: CANARY_PROBES }, now, pause.seconds), type: 'canary-unusable' };
  }
};

/** Another canary follows an accepted one after a second, in a later invocation if this one has no time left. */
export const toBeContinued = (probed: Sending, accepted: number, now: Instant): ProbeEnd | undefined => {
  const pause = probedPause(probed);
  if (pause === undefined) return undefined;
  const { by, code, since, seconds } = pause;
  return {
    next: { version: probed.version + 1, pause: { by, code, since, until: now + 1_000, seconds, probes: 0, accepted } },
    type: 'probed-again',
  };
};

/** What a recipient's mail, sent as a probe, does to the pause. @param random from 0 up to 1 */
export const afterMail = (
  probed: Sending,
  answer: SendAnswer,
  { policy, now, random }: { readonly policy: PausePolicy; readonly now: Instant; readonly random: number },
): ProbeEnd | undefined => {
  const pause = probedPause(probed);
  if (pause === undefined) return undefined;
  switch (answer.kind) {
    case 'accepted':
    case 'permanent':
      // SES judged the mail itself, so nothing of the account is in its way.
      return { next: resumed(probed, now), type: 'resumed' };
    case 'account':
      return prolong(probed, { ...oneMore(pause), code: answer.code }, policy, now);
    case 'transient':
    case 'unclear':
      return prolong(probed, oneMore(pause), policy, now);
    case 'throttled':
    case 'credentials':
      return again(probed, pause, now, random);
  }
};
