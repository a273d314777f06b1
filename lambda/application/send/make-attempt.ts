import { advance } from '../../domain/recipient/recipient.ts';
import { longestPreparationSeconds } from '../../domain/sending/watermark.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { ClaimedRecipient } from '../ports/recipients.ts';
import { type AttemptAnswer, eventOf, type FinishedAttempt, resultOf, type SendPolicy, signalOf } from './finished-attempt.ts';
import { NO_TIME_LEFT, type PreparedMail } from './prepare-mails.ts';
import { neededMs, type SendDeps } from './send-deps.ts';

/** Makes the attempt that a claim allows: at most one call to SES. */
export const makeAttempt = async (deps: SendDeps, mail: PreparedMail, remainingMs: () => number): Promise<FinishedAttempt> => {
  const { group, claimed } = mail;
  const { policy, clock, random, observe, pacer } = deps;
  const startedAt = clock();
  const answer = await deps.guard.weigh(await answerFor(deps, mail, remainingMs), claimed, group.content.from);
  if (answer.kind === 'throttled') pacer.throttled();

  const now = clock();
  const event = eventOf(answer, claimed, group.message, policy, now, random());
  const transition = advance(claimed.recipient, event, now);
  // The row was claimed by this worker a moment ago, so each of its own events is allowed.
  if (!transition.ok) throw new Error(`${event.type} is not allowed: ${transition.because}`);
  const result = { ...resultOf(answer), ms: now - startedAt };
  observe(signalOf(answer, transition.next, group.key, claimed));
  return { group, claimed, next: transition.next, result, answer };
};

const answerFor = async (
  { policy, clock, provider }: SendDeps,
  { group: { key, content }, claimed, prepared }: PreparedMail,
  remainingMs: () => number,
): Promise<AttemptAnswer> => {
  if (!prepared.ok) return prepared.answer;
  if (!isTimeLeft(policy, claimed, clock(), remainingMs())) return NO_TIME_LEFT;
  const { from, replyTo } = content;
  return provider.send(
    { ...prepared.mail, from, ...(replyTo !== undefined && { replyTo }), to: claimed.email },
    { ...key, round: claimed.recipient.round, attempt: claimed.recipient.attemptCount, lease: claimed.recipient.lease.token },
  );
};

/** For the call, and for what is concluded later from when it was made. */
const isTimeLeft = (
  policy: SendPolicy,
  { recipient: { lease } }: ClaimedRecipient,
  now: Instant,
  remainingMs: number,
): boolean => {
  const needed = neededMs(policy);
  const claimedAt = lease.until - policy.leaseSeconds * 1000;
  return lease.until - now > needed && remainingMs > needed && now - claimedAt <= longestPreparationSeconds(policy) * 1000;
};
