import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type Attempt, withResult } from '../../../../../lambda/domain/recipient/attempt.ts';
import { advance, isFinal, type Recipient, type RecipientEvent } from '../../../../../lambda/domain/recipient/recipient.ts';
import { decideUnclear } from '../../../../../lambda/domain/recipient/unclear.ts';
import { aPolicy, pending } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

const ATTEMPTS_PER_ROUND = 3;

const token = fc.constantFrom('t-1', 't-2', 't-3');
const instant = fc.integer({ min: T0 - 1_000, max: T0 + 1_000 });
const message = fc.record({ id: fc.constantFrom('m-1', 'm-2'), sentAt: instant });

const event: fc.Arbitrary<RecipientEvent> = fc.oneof(
  fc.record({ type: fc.constant('claimed' as const), lease: fc.record({ token, until: instant }) }),
  fc.record({ type: fc.constant('accepted' as const), token, messageId: fc.constant('ses-1') }),
  fc.record({ type: fc.constant('refused' as const), token, code: fc.constant('MESSAGE_REJECTED') }),
  fc.record({
    type: fc.constant('retryable' as const),
    token,
    code: fc.constant('NOT_CONNECTED'),
    nextAttemptAt: instant,
    attemptsPerRound: fc.constant(ATTEMPTS_PER_ROUND),
    message,
  }),
  fc.record({
    type: fc.constant('given-back' as const),
    token,
    code: fc.constant('ACCOUNT_THROTTLED'),
    nextAttemptAt: instant,
  }),
  fc.record({ type: fc.constantFrom('unclear' as const, 'resolved-unknown' as const), token }),
  fc.record({ type: fc.constant('resolved-unsent' as const), token, nextAttemptAt: instant }),
  fc.record({ type: fc.constant('used-up' as const), token, message }),
  fc.record({ type: fc.constant('confirmed' as const), messageId: fc.constantFrom('ses-1', 'ses-2'), sentAt: instant }),
  fc.record({ type: fc.constant('cancelled' as const) }),
  fc.record({ type: fc.constant('redriven' as const), message }),
  fc.record({ type: fc.constant('reopened' as const) }),
);

const history = fc.array(fc.tuple(event, instant), { maxLength: 60 });

const policy = aPolicy({ unclear: 'resend', attemptsPerRound: ATTEMPTS_PER_ROUND });

/** Whether anybody would ask for this event: an ended lease is resolved by the rule alone, and a claim too many ends at once. */
const isAsked = (current: Recipient, { type }: RecipientEvent, attempts: readonly Attempt[], now: number): boolean => {
  if (current.status !== 'PROCESSING') return true;
  const isTooMany = current.attemptCount > ATTEMPTS_PER_ROUND;
  if (type === 'used-up') return isTooMany;
  if (isTooMany) return type === 'confirmed';
  if (!type.startsWith('resolved')) return true;
  const view = { feedback: { unapplied: [] }, clock: { seconds: 0, canaries: [] }, now, random: 0.5 };
  return type === `resolved-${decideUnclear(policy, current, attempts, {}, view).verdict}`;
};

describe('whatever happens to a recipient, in whatever order', () => {
  it('only a reopening or the word of SES leaves a final state', () => {
    fc.assert(
      fc.property(history, (events) => {
        let current: Recipient = pending();
        for (const [happened, now] of events) {
          const transition = advance(current, happened, now);
          if (!transition.ok) continue;
          if (!isFinal(current.status)) expect(transition.next.round).toBe(current.round);
          else if (happened.type === 'confirmed') expect(transition.next).toMatchObject({ status: 'SENT', round: current.round });
          else {
            expect(['redriven', 'reopened']).toContain(happened.type);
            expect(['FAILED', 'UNKNOWN']).toContain(current.status);
            expect(transition.next).toMatchObject({ status: 'PENDING', round: current.round + 1, attemptCount: 0 });
          }
          current = transition.next;
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('only a redrive of used-up attempts reopens without a person', () => {
    fc.assert(
      fc.property(history, (events) => {
        let current: Recipient = pending();
        for (const [happened, now] of events) {
          const transition = advance(current, happened, now);
          if (!transition.ok) continue;
          if (happened.type === 'redriven')
            expect(current).toMatchObject({ status: 'FAILED', lastErrorCode: 'ATTEMPTS_EXHAUSTED' });
          current = transition.next;
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('once sent it stays sent, with the first mail’s id', () => {
    fc.assert(
      fc.property(history, (events) => {
        let current: Recipient = pending();
        let first: Recipient | undefined;
        for (const [happened, now] of events) {
          const transition = advance(current, happened, now);
          if (transition.ok) current = transition.next;
          if (current.status === 'SENT') first ??= current;
          if (first !== undefined) expect(current).toBe(first);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('the word of SES makes it sent, whatever happened before', () => {
    fc.assert(
      fc.property(history, (events) => {
        let current: Recipient = pending();
        for (const [happened, now] of events) {
          const transition = advance(current, happened, now);
          if (transition.ok) current = transition.next;
          const confirmed = advance(current, { type: 'confirmed', messageId: 'ses-9', sentAt: now }, now);
          expect(confirmed.ok ? confirmed.next.status : current.status).toBe('SENT');
        }
      }),
    );
  });

  it('a lease changes hands only when it was given up or settled', () => {
    fc.assert(
      fc.property(history, (events) => {
        let current: Recipient = pending();
        for (const [happened, now] of events) {
          const transition = advance(current, happened, now);
          if (!transition.ok) continue;
          if (current.status === 'PROCESSING' && transition.next.status === 'PROCESSING')
            expect(transition.next.lease.token).toBe(current.lease.token);
          current = transition.next;
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('attempts stay from none to as many as a round has', () => {
    fc.assert(
      fc.property(history, (events) => {
        let current: Recipient = pending();
        let attempts: Attempt[] = [];
        for (const [happened, now] of events) {
          if (!isAsked(current, happened, attempts, now)) continue;
          const transition = advance(current, happened, now);
          if (!transition.ok) continue;
          if (happened.type === 'claimed')
            attempts.push({ round: current.round, n: current.attemptCount + 1, lease: happened.lease.token, startedAt: now });
          else if ('token' in happened && happened.type !== 'unclear')
            attempts = withResult(attempts, happened.token, {
              outcome: happened.type === 'given-back' || happened.type === 'used-up' ? 'given-back' : 'unclear',
            });
          current = transition.next;
          expect(current.attemptCount).toBeGreaterThanOrEqual(0);
          // A claim beyond the last attempt is ended without one.
          expect(current.attemptCount).toBeLessThanOrEqual(ATTEMPTS_PER_ROUND + (current.status === 'PROCESSING' ? 1 : 0));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('a refused event says why, and asking twice gives the same answer', () => {
    fc.assert(
      fc.property(history, (events) => {
        let current: Recipient = pending();
        for (const [happened, now] of events) {
          const first = advance(current, happened, now);
          expect(advance(current, happened, now)).toEqual(first);
          if (first.ok) current = first.next;
        }
      }),
    );
  });
});
