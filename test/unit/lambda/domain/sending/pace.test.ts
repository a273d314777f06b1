import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  chunkSize,
  newBucket,
  NO_RESTRAINT,
  paceOf,
  restraintNow,
  take,
  throttled,
} from '../../../../../lambda/domain/sending/pace.ts';
import { T0 } from '../../../../support/clock.ts';

describe('the pace of one sender', () => {
  it('is its part of this service’s share of what the account allows', () => {
    expect(paceOf(14, 0.9, 2)).toBeCloseTo(6.3);
    expect(paceOf(14, 0.4, 2)).toBeCloseTo(2.8);
  });

  it.each([
    ['one call at least', 0.2, 10, 1],
    ['a second’s worth', 6.3, 10, 6],
    ['no more than may be under way', 500, 10, 10],
    ['no more than DynamoDB takes in one batch', 500, 100, 25],
  ])('prepares %s', (_name, pace, parallelCalls, chunk) => {
    expect(chunkSize(pace, parallelCalls)).toBe(chunk);
  });
});

describe('the token bucket', () => {
  const ten = { pace: 10, capacity: 10 };

  it('starts with one token, so that many new senders do not burst', () => {
    const first = take(newBucket(T0), 1, ten, T0);

    expect(first.waitMs).toBe(0);
    expect(take(first.bucket, 1, ten, T0).waitMs).toBe(100);
  });

  it('says how long a chunk must wait', () => {
    expect(take(newBucket(T0), 10, ten, T0).waitMs).toBe(900);
  });

  it('holds no more than a second’s worth after a long rest', () => {
    const rested = take(newBucket(T0), 10, ten, T0 + 3_600_000);

    expect(rested.waitMs).toBe(0);
    expect(take(rested.bucket, 10, ten, T0 + 3_600_000).waitMs).toBe(1_000);
  });

  it('does not gain from a clock set back', () => {
    const { bucket } = take(newBucket(T0), 1, ten, T0);

    expect(take(bucket, 1, ten, T0 - 60_000).waitMs).toBe(100);
  });

  it('never lets more through than its capacity and the pace over time', () => {
    const pauses = fc.array(fc.tuple(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 1, max: 25 })), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(
        fc.double({ min: 0.5, max: 100, noNaN: true }),
        fc.integer({ min: 1, max: 25 }),
        pauses,
        (pace, capacity, steps) => {
          let bucket = newBucket(T0);
          let now = T0;
          let through = 0;
          for (const [pauseMs, n] of steps) {
            now += pauseMs;
            const taken = take(bucket, n, { pace, capacity }, now);
            bucket = taken.bucket;
            now += taken.waitMs;
            through += n;
            expect(through).toBeLessThanOrEqual(capacity + pace * ((now - T0) / 1000) + 1e-6);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('after SES throttled (S7)', () => {
  const once = throttled(NO_RESTRAINT, T0);

  it('half the pace is left', () => {
    expect(restraintNow(once, T0)).toBe(0.5);
  });

  it('ten throttles of one second count as one sign', () => {
    let restraint = NO_RESTRAINT;
    for (let i = 0; i < 10; i += 1) restraint = throttled(restraint, T0 + i * 50);

    expect(restraintNow(restraint, T0)).toBe(0.5);
  });

  it('a second sign halves again', () => {
    expect(restraintNow(throttled(once, T0 + 1_000), T0 + 1_000)).toBeCloseTo(0.275);
  });

  it('never less than a tenth is left, so that sending goes on', () => {
    let restraint = NO_RESTRAINT;
    for (let i = 0; i < 100; i += 1) restraint = throttled(restraint, T0 + i * 1_000);

    expect(restraintNow(restraint, T0 + 99_000)).toBeCloseTo(0.1);
  });

  it('the full pace is back ten seconds later', () => {
    expect(restraintNow(once, T0 + 9_000)).toBeCloseTo(0.95);
    expect(restraintNow(once, T0 + 10_000)).toBe(1);
    expect(restraintNow(once, T0 + 3_600_000)).toBe(1);
  });
});
