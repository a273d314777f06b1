import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  bookSlot,
  freshSeconds,
  NO_READS,
  type SesReadKind,
  type SesReads,
} from '../../../../../lambda/domain/sending/ses-reads.ts';
import { T0 } from '../../../../support/clock.ts';

const book = (reads: SesReads, kind: SesReadKind, now: number, template?: string) => {
  const booking = bookSlot(reads, kind, now, template);
  if (!booking.isBooked) throw new Error(`no slot before ${booking.retryAt - T0}`);
  return booking;
};
const ahead = (ms: number, more: Partial<SesReads> = {}): SesReads => ({ ...NO_READS, nextCallAt: T0 + ms, ...more });

describe('a slot of the budget', () => {
  it('is free at once before anybody asked, and after a rest', () => {
    expect(book(NO_READS, 'known-template', T0).at).toBe(T0);
    expect(book(ahead(-5_000), 'account', T0).at).toBe(T0);
  });

  it('follows the slot before by a second', () => {
    const first = book(NO_READS, 'known-template', T0);

    expect(book(first.next, 'known-template', T0 + 10).at).toBe(T0 + 1_000);
  });

  it.each<[SesReadKind, number, boolean]>([
    ['known-template', 10_000, true],
    ['known-template', 10_001, false],
    ['unknown-template', 10_001, false],
    ['account', 11_000, true],
    ['account', 11_001, false],
  ])('for %s is booked %i ms ahead: %s', (kind, ms, expected) => {
    expect(bookSlot(ahead(ms), kind, T0).isBooked).toBe(expected);
  });

  it('for an id that may name nothing does not make real templates stale for longer (V12)', () => {
    let reads: SesReads = NO_READS;
    for (let n = 0; n < 12; n += 1) {
      const booking = bookSlot(reads, 'unknown-template', T0 + n * 5_000, `invented-${n}`);
      if (booking.isBooked) reads = booking.next;
    }

    const known = bookSlot(reads, 'known-template', T0 + 60_000, 'real');

    expect(known.isBooked && freshSeconds(known.next)).toBe(5);
  });

  it('says when to ask again if there is none', () => {
    expect(bookSlot(ahead(10_500), 'known-template', T0)).toEqual({ isBooked: false, retryAt: T0 + 500 });
  });

  it('is asked for the account once while one call is under way', () => {
    const first = book(NO_READS, 'account', T0);

    expect(bookSlot(first.next, 'account', T0 + 1)).toEqual({ isBooked: false, retryAt: T0 + 5_000 });
    expect(bookSlot(first.next, 'account', T0 + 5_000).isBooked).toBe(true);
  });

  it.each<Partial<SesReads>>([{ nextCallAt: T0 + 61_000 }, { nextUnknownAt: T0 + 61_000 }, { nextAccountAt: T0 + 61_000 }])(
    'is not kept from anybody by a clock that was ahead: %j',
    (wrong) => {
      for (const kind of ['known-template', 'unknown-template', 'account'] as const)
        expect(book({ ...NO_READS, ...wrong }, kind, T0).at).toBe(T0);
    },
  );
});

const requests = fc.array(
  fc.record({
    kind: fc.constantFrom<SesReadKind>('known-template', 'unknown-template', 'account'),
    afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 })),
  }),
  { minLength: 1, maxLength: 200 },
);

/** The slots that were booked in a course of requests. */
const booked = (asked: readonly { readonly kind: SesReadKind; readonly afterMs: number }[]) => {
  let reads = NO_READS;
  let now = T0;
  return asked.flatMap(({ kind, afterMs }) => {
    now += afterMs;
    const booking = bookSlot(reads, kind, now, kind);
    if (!booking.isBooked) return [];
    reads = booking.next;
    return [{ kind, at: booking.at, askedAt: now }];
  });
};

describe('the slots of any course of requests', () => {
  it('are a second apart, and never in the past', () => {
    fc.assert(
      fc.property(requests, (asked) => {
        const slots = booked(asked);
        for (const [i, { at, askedAt }] of slots.entries()) {
          expect(at).toBeGreaterThanOrEqual(askedAt);
          expect(at - (slots[i - 1]?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
        }
      }),
    );
  });

  it('are at most ten seconds ahead, eleven for the account', () => {
    fc.assert(
      fc.property(requests, (asked) => {
        for (const { kind, at, askedAt } of booked(asked))
          expect(at - askedAt).toBeLessThanOrEqual(kind === 'account' ? 11_000 : 10_000);
      }),
    );
  });

  it('go to ids that may not exist at most once in five seconds', () => {
    fc.assert(
      fc.property(requests, (asked) => {
        const unknown = booked(asked).filter(({ kind }) => kind === 'unknown-template');
        for (const [i, { at }] of unknown.entries()) expect(at - (unknown[i - 1]?.at ?? 0)).toBeGreaterThanOrEqual(5_000);
      }),
    );
  });

  it('leave one for the account, however many templates are asked for', () => {
    let reads = NO_READS;
    for (let i = 0; i < 50; i += 1) {
      const booking = bookSlot(reads, 'known-template', T0, `t-${i}`);
      if (booking.isBooked) reads = booking.next;
    }

    expect(bookSlot(reads, 'known-template', T0).isBooked).toBe(false);
    expect(bookSlot(reads, 'account', T0).isBooked).toBe(true);
  });
});

describe('the time for which a template counts as current', () => {
  const after = (templates: number, apartMs = 1_000): SesReads => {
    let reads = NO_READS;
    for (let i = 0; i < templates; i += 1) reads = book(reads, 'known-template', T0 + i * apartMs, `t-${i}`).next;
    return reads;
  };

  it.each([
    [1, 5],
    [4, 5],
    [5, 5],
    [6, 6],
    [40, 40],
  ])('of %i active scenarios is %i s', (active, seconds) => {
    expect(freshSeconds(after(active))).toBe(seconds);
  });

  it('counts a scenario once, and not any more a minute after its last read', () => {
    const twice = book(after(1), 'known-template', T0 + 1_000, 't-0').next;
    expect(Object.keys(twice.templates)).toEqual(['t-0']);

    expect(Object.keys(book(after(8), 'known-template', T0 + 66_000, 'late').next.templates)).toEqual(['t-7', 'late']);
  });
});
