import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  hear,
  type Hold,
  isSilent,
  keepCanaries,
  type Testimony,
  type Witness,
  type WitnessPolicy,
} from '../../../../lambda/domain/witness.ts';
import { anAttempt } from '../../../support/builders.ts';
import { T0 } from '../../../support/clock.ts';

const policy: WitnessPolicy = { sesTimeoutSeconds: 10, witnessMarginSeconds: 60, redeliverySeconds: 70, holdAfterSeconds: 3_600 };
const HOUR_MS = 3_600_000;
/** The call began until T0 + 10 s, SES may have taken the mail for 10 s more, and the margin is 60 s. */
const PROOF_MS = 80_000;

const aWitness = (witness: Partial<Witness> = {}): Witness => ({ holds: [], canaries: [], ...witness });
const awake = { mark: T0 + PROOF_MS + 1 };
/** The first that can speak for the attempt. */
const CANARY = T0 + PROOF_MS + 1;

describe('the silence of the witness about an attempt', () => {
  it.each<[string, Partial<Witness>, number, Testimony]>([
    ['proves it unsent once events of later mails were applied', awake, T0 + 300_000, 'unsent'],
    ['proves nothing while the later mail is not later enough', { mark: T0 + PROOF_MS }, T0 + 300_000, 'wait'],
    ['proves nothing after a mail 10 ms later (L4b)', { mark: T0 + 10 }, T0 + 300_000, 'wait'],
    ['proves nothing when no event ever came', {}, T0 + 300_000, 'wait'],
    [
      'proves nothing while an event of the very attempt is stuck (E5)',
      { ...awake, holds: [{ lease: 'ours', sentAt: T0 }] },
      T0 + 300_000,
      'wait',
    ],
    [
      'is not called in question by an event of another attempt (E5)',
      { ...awake, holds: [{ lease: 'theirs', sentAt: T0 }] },
      T0 + 300_000,
      'unsent',
    ],
    [
      'proves nothing while an event of nobody knows which mail of that time is stuck',
      { ...awake, holds: [{ sentAt: T0 + PROOF_MS }] },
      T0 + 300_000,
      'wait',
    ],
    [
      'proves nothing while such an event is stuck by a clock that is a minute behind',
      { ...awake, holds: [{ sentAt: T0 - 60_000 }] },
      T0 + 300_000,
      'wait',
    ],
    [
      'is not called in question by an event of an earlier mail',
      { ...awake, holds: [{ sentAt: T0 - 60_001 }] },
      T0 + 300_000,
      'unsent',
    ],
    [
      'is not called in question by an event of a later mail',
      { ...awake, holds: [{ sentAt: T0 + PROOF_MS + 1 }] },
      T0 + 300_000,
      'unsent',
    ],
    ['is waited out for an hour after a canary', { canaries: [CANARY] }, CANARY + HOUR_MS - 1, 'wait'],
    ['is for a person to judge an hour after a canary (L4)', { canaries: [CANARY] }, CANARY + HOUR_MS, 'silent'],
    [
      'is not judged by a canary that could not have moved the mark far enough',
      { canaries: [CANARY - 1] },
      T0 + 2 * HOUR_MS,
      'wait',
    ],
    [
      'is for a person to judge while an event of it is stuck for an hour after a canary',
      { ...awake, holds: [{ lease: 'ours', sentAt: T0 }], canaries: [CANARY] },
      CANARY + HOUR_MS,
      'silent',
    ],
    ['proves it unsent even an hour after a canary', { ...awake, canaries: [CANARY] }, CANARY + HOUR_MS, 'unsent'],
    [
      'proves nothing while there may be no room for one more hold',
      { ...awake, holds: Array.from({ length: 291 }, (_, i) => ({ lease: `l-${i}`, sentAt: T0 })) },
      T0 + 300_000,
      'wait',
    ],
  ])('%s', (_name, witness, now, testimony) => {
    expect(hear(aWitness(witness), anAttempt(), policy, now)).toBe(testimony);
  });

  const instant = fc.integer({ min: T0 - 200_000, max: T0 + 200_000 });
  const holds: fc.Arbitrary<Hold[]> = fc.array(
    fc.oneof(fc.record({ sentAt: instant }), fc.record({ lease: fc.constantFrom('ours', 'theirs'), sentAt: instant })),
  );
  const witness = fc.record({ mark: instant, holds, canaries: fc.array(instant) });

  it('never proves an attempt unsent whose own event is stuck, whatever else was heard (E5)', () => {
    fc.assert(
      fc.property(witness, instant, (heard, now) => {
        const held = { ...heard, holds: [...heard.holds, { lease: 'ours', sentAt: T0 }] };
        expect(hear(held, anAttempt(), policy, now)).not.toBe('unsent');
      }),
    );
  });

  it('never proves more after one more event got stuck', () => {
    fc.assert(
      fc.property(witness, holds, instant, (heard, more, now) => {
        const before = hear(heard, anAttempt(), policy, now);
        const after = hear({ ...heard, holds: [...heard.holds, ...more] }, anAttempt(), policy, now);
        if (before !== 'unsent') expect(after).toBe(before);
      }),
    );
  });
});

describe('the canaries that are remembered', () => {
  it('are the newest that is an hour old, and all after it', () => {
    const now = T0 + 2 * HOUR_MS;

    expect(keepCanaries([T0 + HOUR_MS + 1, T0, T0 + HOUR_MS, T0 + 60_000], policy, now)).toEqual([
      T0 + HOUR_MS,
      T0 + HOUR_MS + 1,
    ]);
  });

  it('are all while none is an hour old', () => {
    expect(keepCanaries([T0 + 60_000, T0], policy, T0 + HOUR_MS - 1)).toEqual([T0, T0 + 60_000]);
  });

  it('are the oldest when there are too many: they end a wait first', () => {
    const many = Array.from({ length: 200 }, (_, i) => T0 + i * 1_000);

    expect(keepCanaries(many, policy, T0 + HOUR_MS - 1)).toEqual(many.slice(0, 120));
  });

  it('end a wait no later than all of them would', () => {
    const sentAt = fc.array(fc.integer({ min: T0, max: T0 + HOUR_MS }), { maxLength: 100 });
    fc.assert(
      fc.property(sentAt, fc.integer({ min: T0, max: T0 + HOUR_MS }), (canaries, startedAt) => {
        const now = T0 + HOUR_MS + HOUR_MS / 2;
        const attempt = anAttempt({ startedAt });
        const kept = keepCanaries(canaries, policy, now);
        expect(hear(aWitness({ canaries: kept }), attempt, policy, now)).toBe(hear(aWitness({ canaries }), attempt, policy, now));
      }),
    );
  });
});

describe('events', () => {
  const MINUTE = 60_000;

  it.each<[string, Partial<Witness>, number | undefined, boolean]>([
    ['are missing when none ever came of mails whose event is due', {}, T0, true],
    ['are missing when the newest are of mails long before', { mark: T0 - 2 * MINUTE - 1 }, T0, true],
    ['are there when the newest are of mails about then', { mark: T0 - 2 * MINUTE }, T0, false],
    ['are not missing when none is due', { mark: 0 }, undefined, false],
  ])('%s', (_, witness, newestSentAt, silent) => {
    expect(isSilent(aWitness(witness), newestSentAt)).toBe(silent);
  });
});
