import { describe, expect, it } from 'vitest';

import { type Attempt, ATTEMPTS_KEPT, countUnclear, withResult } from '../../../../lambda/domain/attempt.ts';
import { type SettlePolicy, settleUnclear, UNCLEAR_POLICIES, type Verdict } from '../../../../lambda/domain/unclear.ts';
import type { Witness } from '../../../../lambda/domain/witness.ts';
import { anAttempt, aPolicy, processing } from '../../../support/builders.ts';
import { T0 } from '../../../support/clock.ts';

const HOUR_MS = 3_600_000;
const lost = anAttempt({ lease: 'l-1', outcome: 'unclear' });
const died = anAttempt({ lease: 'l-2', n: 2 });
const retried = anAttempt({ lease: 'l-3', outcome: 'retry' });
/** SES's events were found to be silent about them before. */
const silent = { ...lost, silentAt: T0 + 300_000 };
const silentlyDied = { ...died, silentAt: T0 + 300_000 };

type Row = Partial<{ round: number; attemptCount: number; lease: string; attempts: readonly Attempt[] }>;

/** What becomes of a row whose lease ended; by default its only attempt was lost. */
const settle = (
  unclear: SettlePolicy['unclear'],
  { round = 1, attemptCount = 1, lease = 'l-1', attempts = [lost] }: Row = {},
  witness?: Witness,
  now = T0 + 300_000,
): Verdict =>
  settleUnclear(
    aPolicy({ unclear }),
    processing({ round, attemptCount, lease: { token: lease, until: now } }),
    attempts,
    witness,
    now,
  );

const asleep: Witness = { holds: [], canaries: [] };
const awake: Witness = { mark: T0 + 80_001, holds: [], canaries: [] };

describe('a lease that ended with the outcome open', () => {
  it.each<[string, Row, Verdict]>([
    ['is sent again once', { attemptCount: 1 }, 'unsent'],
    ['is sent again once when the worker died', { attemptCount: 2, attempts: [died] }, 'unsent'],
    ['is not sent a third time (L4)', { attemptCount: 2, attempts: [lost, died] }, 'unknown'],
    ['is sent again after failures that were clear', { attemptCount: 2, attempts: [retried, died] }, 'unsent'],
    [
      'is sent again once in each round',
      { round: 2, attemptCount: 1, attempts: [lost, died, anAttempt({ round: 2, lease: 'l-4' })] },
      'unsent',
    ],
    ['is unknown when no attempt is left', { attemptCount: 7 }, 'unknown'],
    ['is sent again with one attempt left', { attemptCount: 6 }, 'unsent'],
  ])('%s under resend, whatever the witness says', (_name, row, expected) => {
    expect(settle('resend', row)).toBe(expected);
    expect(settle('resend', row, awake)).toBe(expected);
  });

  it('is unknown at once under hold (L4)', () => {
    expect(settle('hold')).toBe('unknown');
    expect(settle('hold', {}, awake)).toBe('unknown');
  });

  it.each<[string, Row, Witness | undefined, number, Verdict]>([
    ['waits while the witness sleeps (U4)', {}, asleep, T0 + 300_000, 'wait'],
    ['waits while nobody can ask the witness', {}, undefined, T0 + 300_000, 'wait'],
    ['waits for days if nobody sent a canary', {}, asleep, T0 + 72 * HOUR_MS, 'wait'],
    ['waits for what may come again when the witness is awake and silent', {}, awake, T0 + 300_000, 'wait-for-redelivery'],
    ['is sent again when the witness is silent still', { attempts: [silent] }, awake, T0 + 370_000, 'unsent'],
    ['is sent again when its worker died (L2)', { lease: 'l-2', attempts: [silentlyDied] }, awake, T0 + 370_000, 'unsent'],
    ['is sent again with one attempt left', { attemptCount: 6, attempts: [silent] }, awake, T0 + 370_000, 'unsent'],
    ['ends its round with no attempt left', { attemptCount: 7, attempts: [silent] }, awake, T0 + 370_000, 'exhausted'],
    [
      'waits when its event got stuck since the witness was found silent (E5)',
      { attempts: [silent] },
      { ...awake, holds: [{ lease: 'l-1', sentAt: T0 }] },
      T0 + 370_000,
      'wait',
    ],
    ['waits while its event is stuck (E5)', {}, { ...awake, holds: [{ lease: 'l-1', sentAt: T0 }] }, T0 + 300_000, 'wait'],
    ['is unknown an hour after a canary (L4)', {}, { ...asleep, canaries: [T0 + 80_001] }, T0 + HOUR_MS + 80_001, 'unknown'],
    ['is unknown when no attempt of its lease is kept', { attempts: [retried] }, awake, T0 + 300_000, 'unknown'],
    [
      'is heard about by its own attempt, not by an earlier one',
      { attemptCount: 2, lease: 'l-2', attempts: [lost, { ...died, startedAt: T0 + 1_000 }] },
      { ...awake, mark: T0 + 81_000 },
      T0 + 300_000,
      'wait',
    ],
  ])('%s under auto', (_name, row, witness, now, expected) => {
    expect(settle('auto', row, witness, now)).toBe(expected);
  });

  it('is sent again without a limit but the attempts under auto, since each was proven unsent', () => {
    const attempts = [silent, silentlyDied, anAttempt({ lease: 'l-4', n: 3, silentAt: T0 + 900_000 })];

    expect(settle('auto', { attemptCount: 3, lease: 'l-4', attempts }, awake)).toBe('unsent');
  });

  it('has three policies', () => {
    expect(UNCLEAR_POLICIES).toEqual(['auto', 'resend', 'hold']);
  });
});

describe('the attempts of a recipient', () => {
  it('get a result by their lease, and the others stay', () => {
    expect(withResult([lost, died], 'l-2', { outcome: 'sent', messageId: 'ses-1', ms: 80 })).toEqual([
      lost,
      { ...died, outcome: 'sent', messageId: 'ses-1', ms: 80 },
    ]);
  });

  it('are the newest twenty', () => {
    const many = Array.from({ length: 25 }, (_, i) => anAttempt({ lease: `l-${i}`, n: i }));

    const kept = withResult(many, 'l-24', { outcome: 'sent' });

    expect(ATTEMPTS_KEPT).toBe(20);
    expect(kept.map(({ lease }) => lease)).toEqual(many.slice(5).map(({ lease }) => lease));
  });

  it('keep one whose mail may have been taken, through any number that were given back', () => {
    let attempts: Attempt[] = [lost];
    for (let i = 0; i < 100; i += 1) {
      const lease = `throttled-${i}`;
      attempts = withResult([...attempts, anAttempt({ lease, n: 2 })], lease, { outcome: 'given-back' });
    }

    expect(attempts).toHaveLength(20);
    expect(attempts.at(-1)?.lease).toBe('throttled-99');
    expect(countUnclear(attempts, 1)).toBe(1);
  });

  it('keep the message id of a mail that was taken, through any number of others', () => {
    let attempts: Attempt[] = [anAttempt({ lease: 'taken', outcome: 'sent', messageId: 'ses-1' }), retried];
    for (let i = 0; i < 100; i += 1) {
      const lease = `failed-${i}`;
      attempts = withResult([...attempts, anAttempt({ lease, n: 2 })], lease, { outcome: 'retry' });
    }

    expect(attempts).toHaveLength(20);
    expect(attempts[0]?.lease).toBe('taken');
  });

  it('count as unclear in their round only, whether SES was silent or the worker', () => {
    expect(countUnclear([lost, died, retried, anAttempt({ round: 2, outcome: 'unclear' })], 1)).toBe(2);
  });
});
